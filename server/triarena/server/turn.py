"""A turn under way: who was asked, over which connection, since when the clock runs, and what came of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from triarena.games import Side

from .clock import SideClock
from .terms import LastTurn, Timing

StoodStill: TypeAlias = Callable[[float, float], float]
"""For how many seconds the server stood still between two moments; see ``LoopLag.stood_still``."""


def never(since: float, until: float) -> float:
    """Of a server that always runs."""
    return 0.0


@dataclass(slots=True)
class Turn:
    """A ``your_turn`` under way; moments are trio's."""

    side: Side
    ply: int
    clock: SideClock
    """The side's, before its answer."""
    asked: float
    """When it began."""
    visit: int | None = None
    """The connection over which it was asked, or asked again; see ``Seat``. None: it has not been yet."""
    sent: float | None = None
    """Since when the clock runs; None while it does not."""
    overhead: float | None = None
    """What the server took to ask; see Timing."""
    waited: bool = False
    """Whether it had to wait for its side, which was away."""
    arrived: float | None = None
    """When the answer came."""
    used: float = 0.0
    """What it is charged, in seconds."""
    stood_still: StoodStill = never
    _held: float | None = None
    """Since when the clock has stood; None while it does not."""
    _excused: float = 0.0
    """Seconds for which it stood before."""

    def start(self, at: float) -> bool:
        """Let the clock run; False if it does."""
        if self.sent is not None:
            return False
        self.sent = at
        return True

    def hold(self, now: float, *, nobody: bool) -> None:
        """While ``nobody`` is there, neither side nor the other, the clock stands."""
        if self.sent is None or nobody == (self._held is not None):
            return
        if self._held is None:
            self._held = now
        else:
            self._excused += now - self._held - self.stood_still(self._held, now)
            self._held = None

    def elapsed(self, now: float) -> float:
        """How long the clock has run. It stands while the server does, unless what came meanwhile is stamped."""
        if self.sent is None:
            return 0.0
        if self._held is not None:
            now = min(now, self._held)
        return max(0.0, now - self.sent - self._excused - self.stood_still(self.sent, now))

    def runs_out(self) -> float:
        """When the clock will have run out; infinite while it does not run."""
        if self.sent is None or self._held is not None:
            return math.inf
        return self.sent + self._excused + self.stood_still(self.sent, math.inf) + self.clock.patience()

    def answer(self, at: float) -> bool:
        """The move came; whether it did in time."""
        self.arrived, self.used = at, self.elapsed(at)
        return not self.clock.lost(self.used)

    def timing(self) -> Timing:
        """Of a turn that was answered."""
        assert self.arrived is not None, "it was answered"
        return Timing(self.asked, self.arrived, limit_ms=self.clock.left_ms, overhead=self.overhead)

    def last(self, now: float) -> LastTurn:
        """As the turn in which the match ends."""
        if self.arrived is None and not self.used:
            self.used = self.elapsed(now)
        asked = self.asked if self.sent is None else self.sent
        limit_ms = self.clock.left_ms
        return LastTurn(self.side, self.ply, asked, self.arrived, self.used, limit_ms, self.overhead)
