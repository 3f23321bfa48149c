"""Bots that cost as little as possible, so that what is measured is the server: all of them in one process, on epoll.

``python -m speed.bots`` reads a ``Task`` as JSON from its input, takes all seats, prints the room of the first match,
waits for another line on its input, plays, and prints what it saw (``Seen``) as JSON. Every bot answers at once, or a
fixed time after it was asked, with moves that were thought out before. They end with their input.
"""

from __future__ import annotations

import heapq
import json
import select
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import count
from typing import Any, Final

import msgpack

from triarena.protocol.frames import HEADER, frame

from .lifeline import end_with_the_benchmark
from .raw import Line, greeted
from .relay import move, seated

TIMEOUT: Final = 60.0
"""Seconds without anything to do after which something is wrong."""
NOBODY: Final = -1
"""In the place of a seat: the match is to begin."""
KIND: Final = slice(HEADER, HEADER + 24)
"""Where a frame says what it is."""


@dataclass(frozen=True, slots=True)
class Task:
    """What the bots are to do. All matches play the same moves."""

    port: int
    codes: Sequence[Sequence[str]]
    """By match: the reservation codes of red and blue."""
    moves: Sequence[dict[str, Any]]
    """In wire form, by ply."""
    think: float = 0.0
    """Seconds from the arrival of a turn to the answer."""
    relay: int = 0
    """So many matches are played over the bare relay, which knows neither codes nor moves."""
    sizes: Sequence[Sequence[int]] = ()
    """For the relay, by ply: see ``Seen``."""
    again: Sequence[bool] = ()
    """For the relay, by ply: see ``Seen``."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What they saw."""

    plies: int
    began: float
    """By the monotonic clock, which all processes of a machine share."""
    seconds: float
    """From the start to the last end."""
    waited: Sequence[float]
    """Milliseconds from a move's first byte out to the last byte in of the turn that follows from it."""
    sizes: Sequence[Sequence[int]]
    """By ply of the first match: the bytes of the move, of ``moved``, and of the ``your_turn`` after it, 0 if none."""
    again: Sequence[bool]
    """By ply of the first match: whether the same side moved next."""


@dataclass(slots=True, eq=False)
class Match:
    """One match, seen from both seats."""

    lines: Sequence[Line]
    moves: Sequence[bytes]
    """The frames, by ply."""
    ready: bytes | None
    """What both say when it is to begin; None: then the first seat just moves."""
    ply: int = 0
    mover: int = 0
    """The seat that moved last."""
    sent: float = 0.0
    """When it did."""
    moved: int = 0
    """The bytes of the latest ``moved``."""
    over: int = 0
    """How many seats have heard the end."""
    sizes: list[tuple[int, int, int]] = field(default_factory=list)
    again: list[bool] = field(default_factory=list)


class Play:
    """Plays matches to their ends, all at once."""

    def __init__(self, matches: Sequence[Match], think: float) -> None:
        self._matches = matches
        self._think = think
        self._seats = {
            line.socket.fileno(): (match, seat) for match in matches for seat, line in enumerate(match.lines)
        }
        self._due: list[tuple[float, int, Match, int]] = []
        self._order = count()
        self._waited: list[float] = []

    def run(self) -> Seen:
        """From the start to the last end. Raises TimeoutError if the server says nothing any more."""
        poll = select.epoll()
        for number in self._seats:
            poll.register(number, select.EPOLLIN)
        began = time.monotonic()
        for number, match in enumerate(self._matches):
            # Those that think do not all think at the same moments.
            later = self._think * number / len(self._matches)
            heapq.heappush(self._due, (time.time() + later, next(self._order), match, NOBODY))
        while any(match.over < 2 for match in self._matches):
            due = self._due
            events = poll.poll(max(0.0, due[0][0] - time.time()) if due else TIMEOUT)
            if not events and not due:
                raise TimeoutError("the server says nothing any more")
            for number, _ in events:
                self._hear(*self._seats[number])
            while due and due[0][0] <= time.time():
                self._answer(*heapq.heappop(due)[2:])
        seconds = time.monotonic() - began
        first = self._matches[0]
        first.sizes.append((len(first.moves[first.ply - 1]), first.moved, 0))
        plies = sum(match.ply for match in self._matches)
        return Seen(plies, began, seconds, self._waited, first.sizes, [*first.again, False])

    def _hear(self, match: Match, seat: int) -> None:
        line = match.lines[seat]
        for one in line.frames():
            kind = one[KIND]
            if b"your_turn" in kind:
                if match.ply:
                    self._waited.append((line.came - match.sent) * 1000)
                    match.again.append(seat == match.mover)
                    match.sizes.append((len(match.moves[match.ply - 1]), match.moved, len(one)))
                if self._think:
                    heapq.heappush(self._due, (line.came + self._think, next(self._order), match, seat))
                else:
                    self._answer(match, seat)
            elif b"moved" in kind:
                match.moved = len(one)
            elif b"match_over" in kind:
                match.over += 1

    def _answer(self, match: Match, seat: int) -> None:
        if seat == NOBODY:
            if match.ready is not None:
                for line in match.lines:
                    line.send(match.ready)
                return
            seat = 0
        data = match.moves[match.ply]
        match.mover, match.ply = seat, match.ply + 1
        match.sent = time.time()
        match.lines[seat].send(data)


def at_the_server(task: Task) -> list[Match]:
    """Take all seats; the matches start when both sides are ready."""
    matches = []
    for codes in task.codes:
        lines = [greeted(task.port) for _ in codes]
        for line, code in zip(lines, codes, strict=True):
            line.say(type="join_reserved", reservation=code)
            room = line.hear("joined")["room"]
        for line in lines:
            line.hear("match_started")
        moves = [
            frame(msgpack.packb({"type": "move", "room": room, "ply": ply, "move": wire}))
            for ply, wire in enumerate(task.moves)
        ]
        matches.append(Match(lines, moves, frame(msgpack.packb({"type": "ready", "room": room}))))
    return matches


def at_the_relay(task: Task) -> list[Match]:
    """Connect in pairs."""
    moves = [move(*sizes, again=again) for sizes, again in zip(task.sizes, task.again, strict=True)]
    matches = []
    for pair in range(task.relay):
        lines = [Line(task.port) for _ in range(2)]
        for seat, line in enumerate(lines):
            line.send(seated(pair, seat))
            line.hear_frame()  # it knows us
        matches.append(Match(lines, moves, None))
    return matches


def main() -> None:
    """Do the task. Raises OSError or RuntimeError."""
    asked = sys.stdin.readline()
    if not asked:
        return
    task = Task(**json.loads(asked))
    matches = at_the_relay(task) if task.relay else at_the_server(task)
    room = "" if task.relay else msgpack.unpackb(matches[0].moves[0][HEADER:])["room"]
    print(room, flush=True)
    if not sys.stdin.readline():
        return
    end_with_the_benchmark()
    print(json.dumps(asdict(Play(matches, task.think).run())), flush=True)


if __name__ == "__main__":
    try:
        main()
    except (OSError, RuntimeError) as error:
        sys.exit(f"bots: {error}")
