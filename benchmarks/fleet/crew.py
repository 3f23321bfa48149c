"""Bots that play scripts, and note what they saw and when."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import trio

from triarena.protocol.values import TimeControl
from triarena.server.clock import SideClock

from .line import Line, Message
from .scripts import Script

Think: TypeAlias = Callable[[int, float], Awaitable[None]]
"""Returns when the move of a ply is to be sent; given when the turn was received, by this process's clock."""


@dataclass(frozen=True, slots=True)
class Noted:
    """One own move, as its bot saw it; milliseconds."""

    ply: int
    true: float
    """From receiving ``your_turn`` to having sent the move."""
    charged: float
    """What ``moved`` says."""
    waited: float
    """From having sent the move to ``moved``: what the way, the referee and the journal took."""


@dataclass(slots=True)
class Played:
    """A bot's own record of a match."""

    side: str = ""
    notes: list[Noted] = field(default_factory=list)
    over: Message | None = None
    unanswered: float | None = None
    """Milliseconds from receiving a turn to having answered it, if no ``moved`` came for it."""

    @property
    def reason(self) -> str:
        """Why it ended."""
        return "" if self.over is None else str(self.over["result"]["reason"])

    def was_late(self, control: TimeControl) -> bool:
        """Whether the bot overran that clock by its own measure: it got no time to run, and lost rightly."""
        clock = SideClock.of(control)
        for note in self.notes:
            if clock.lost(note.true / 1000):
                return True
            clock = clock.charge(note.true / 1000)
        return self.unanswered is not None and clock.lost(self.unanswered / 1000)


def timed_out(ends: tuple[Played, Played]) -> Played | None:
    """Who lost the match on time, if somebody did."""
    over = ends[0].over
    if over is None or over["result"]["reason"] != "timeout":
        return None
    return ends[0] if over["result"]["detail"]["offenders"] == [ends[0].side] else ends[1]


def after(seconds: float) -> Think:
    """Answers so many seconds after the turn came."""

    async def think(ply: int, received: float) -> None:
        await trio.sleep(max(0.0, received + seconds - time.monotonic()))

    return think


async def play_script(line: Line, code: str, script: Script, think: Think) -> Played:
    """Take the seat of a reservation and play the script until the match is over. Raises HungUp or Refused."""
    played = Played()
    played.side = (await line.request("joined", type="join_reserved", reservation=code, updates="moves"))["side"]
    started = await line.hear("match_started")
    room = started["room"]
    await line.say(type="ready", room=room)
    sent = 0.0
    while True:
        message = await line.hear("your_turn", "moved", "match_over")
        if message["type"] == "match_over":
            played.over = message
            return played
        if message["type"] == "your_turn":
            ply, received = message["ply"], line.received_at
            await think(ply, received)
            await line.say(type="move", room=room, ply=ply, move=script.moves[ply])
            sent = time.monotonic()
            played.unanswered = (sent - received) * 1000
        elif message["side"] == played.side and played.unanswered is not None:
            waited = max(0.0, line.received_at - sent) * 1000
            played.notes.append(Noted(message["ply"], played.unanswered, message["used_ms"], waited))
            played.unanswered = None


async def play_both(
    lines: Sequence[Line], codes: Sequence[str], script: Script, thinks: Sequence[Think]
) -> tuple[Played, Played]:
    """A match over two lines, red's first: both records. Raises what ``play_script`` raises, in a group."""
    records = [Played(), Played()]

    async def sit(seat: int) -> None:
        records[seat] = await play_script(lines[seat], codes[seat], script, thinks[seat])

    async with trio.open_nursery() as nursery:
        for seat in range(2):
            nursery.start_soon(sit, seat)
    return records[0], records[1]
