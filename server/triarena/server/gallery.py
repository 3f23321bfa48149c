"""The observers of a room: they see everything that is public, and never slow the match.

The plies are collected, and told by a task of its own: to each observer with one write, however many there are, to a
few observers at a time, and not again before a moment has passed. So a crowd costs the players hardly anything, however
fast they play. An observer that does not keep up gets the present state instead, once it has read what it was sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import trio

from triarena.protocol.codec import Encoded, together
from triarena.protocol.from_server import MatchOver, Moved, Snapshot

from .seat import Line

PAUSE = 0.05
"""Seconds from one telling to the next."""
AT_ONCE = 8
"""So many observers are told before others have their turn."""
WRITE = 64 * 1024
"""So many bytes of plies are told with one write, or a single longer one."""

StartSoon: TypeAlias = Callable[[Callable[[], Awaitable[object]]], None]
State: TypeAlias = Callable[[], Encoded[Snapshot]]
"""Makes the message that tells the present state. It is the room's, and not kept here: a cycle of references would
leave closed rooms to the collector, which seldom runs.
"""


@dataclass(slots=True, eq=False)
class Watch:
    """An observer."""

    line: Line
    bound: int
    """How many messages may wait for it before it is given the present state instead."""
    told: int
    """The number of the first ply shown that it was not told yet; plies shown are counted from 0."""
    lagging: bool = False
    here: bool = True


class Gallery:
    """Of one room."""

    def __init__(self, start_soon: StartSoon) -> None:
        self.watches: list[Watch] = []
        self._start_soon = start_soon
        self._waiting: list[Encoded[Moved]] = []
        self._first = 0
        """The number of the first of those that wait."""
        self._telling = False

    @property
    def _next(self) -> int:
        return self._first + len(self._waiting)

    def add(self, line: Line, bound: int) -> None:
        """Somebody watches from now on, who has been told the present state."""
        self.watches.append(Watch(line, bound, self._next))

    def remove(self, line: Line) -> None:
        """An observer has gone."""
        for watch in self.watches:
            watch.here = watch.line is not line
        self.watches = [watch for watch in self.watches if watch.here]

    def show(self, moved: Encoded[Moved]) -> None:
        """A ply was played."""
        if not self.watches:
            return
        self._waiting.append(moved)
        # The Software-Challenge's clients expect what is shown and what they are told otherwise in one order.
        self._tell((watch for watch in self.watches if watch.line.terse), self._next, {})
        if not self._telling:
            self._telling = True
            self._start_soon(self._tell_in_turn)

    def refresh(self, state: State) -> None:
        """Tell everybody the present state."""
        self._resync(self.watches, state)

    def announce(self, state: State) -> None:
        """Something else than a ply has happened: tell what is left to tell, and the present state.

        Who lags is told it later. The Software-Challenge's clients have messages of their own for it.
        """
        self._tell(self.watches, self._next, {})
        for watch in self.watches:
            watch.lagging = watch.lagging or watch.line.backlog >= watch.bound
        self._resync((watch for watch in self.watches if not watch.lagging and not watch.line.terse), state)

    def drained(self, line: Line, state: State) -> None:
        """A client has taken all that was sent: if it lagged behind, it gets the present state."""
        for watch in self.watches:
            if watch.lagging and watch.line is line:
                self._resync([watch], state)

    def close(self, the_end: Encoded[MatchOver], state: State) -> None:
        """It is over: tell everybody what is left to tell, and the end; nobody watches any more."""
        self._tell(self.watches, self._next, {})
        self._resync((watch for watch in self.watches if watch.lagging), state)
        for watch in self.watches:
            watch.line.post_encoded(the_end)
            watch.here = False
        self.watches = []
        self._forget(self._next)

    async def _tell_in_turn(self) -> None:
        try:
            while self._waiting:
                watches, end = self.watches, self._next
                runs: dict[int, list[Encoded[Moved]]] = {}
                for begin in range(0, len(watches), AT_ONCE):
                    self._tell(watches[begin : begin + AT_ONCE], end, runs)
                    await trio.lowlevel.checkpoint()
                self._forget(end)
                await trio.sleep(PAUSE)
        finally:
            self._telling = False

    def _tell(self, watches: Iterable[Watch], end: int, runs: dict[int, list[Encoded[Moved]]]) -> None:
        """Tell observers the plies before ``end`` that they were not told yet; ``runs`` keeps them packed for more."""
        for watch in watches:
            if not watch.here or watch.told >= end:
                continue
            plies = self._waiting[watch.told - self._first : end - self._first]
            if watch.lagging or watch.line.backlog >= watch.bound:
                watch.lagging = True
            elif watch.line.singly:
                for one in plies:
                    watch.line.post_encoded(one)
            else:
                if watch.told not in runs:
                    runs[watch.told] = list(_runs(plies))
                for run in runs[watch.told]:
                    watch.line.post_encoded(run)
            watch.told = end

    def _forget(self, end: int) -> None:
        """The plies before ``end`` have been told."""
        told = max(0, end - self._first)
        del self._waiting[:told]
        self._first += told

    def _resync(self, watches: Iterable[Watch], state: State) -> None:
        encoded: Encoded[Snapshot] | None = None
        for watch in watches:
            encoded = encoded or state()
            watch.lagging, watch.told = False, self._next
            watch.line.post_encoded(encoded)


def _runs(plies: Iterable[Encoded[Moved]]) -> Iterator[Encoded[Moved]]:
    """As few as can be written at once each."""
    run: list[Encoded[Moved]] = []
    size = 0
    for one in plies:
        if run and size + len(one.data) > WRITE:
            yield together(run)
            run, size = [], 0
        run.append(one)
        size += len(one.data)
    yield together(run)
