"""Clocks as values: what a side may use, what it has used. The time is passed in; nothing here reads it.

All times are seconds unless a name says otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from triarena.protocol.values import Clock as WireClock
from triarena.protocol.values import PerMove, TimeControl


@dataclass(frozen=True, slots=True)
class SideClock:
    """One side's clock in a match."""

    control: TimeControl
    used: float = 0.0
    """All moves together."""
    last: float | None = None
    """The latest move."""
    strikes: int = 0
    """Overruns that were forgiven."""

    def patience(self) -> float:
        """How long an answer to ``your_turn`` is waited for; infinite without a clock."""
        if not isinstance(self.control, PerMove):
            return math.inf
        soft = (self.control.move_ms + self.control.margin_ms) / 1000
        if self.control.hard_ms is None or self.strikes >= self.control.strikes:
            return soft
        return max(soft, self.control.hard_ms / 1000)

    def overrun(self, used: float) -> bool:
        """Whether a move that took ``used`` seconds was later than limit and margin allow."""
        if not isinstance(self.control, PerMove):
            return False
        return used * 1000 > self.control.move_ms + self.control.margin_ms

    def charge(self, used: float) -> SideClock:
        """The clock after a move that took ``used`` seconds and was accepted."""
        return replace(self, used=self.used + used, last=used, strikes=self.strikes + self.overrun(used))

    def tell(self, overhead: float | None) -> WireClock:
        """What ``your_turn`` says; ``overhead`` is what the server took since the opponent's move arrived."""
        limit = self.control.move_ms if isinstance(self.control, PerMove) else None
        return WireClock(
            limit_ms=limit,
            remaining_ms=limit,
            last_used_ms=None if self.last is None else ms(self.last),
            server_overhead_ms=None if overhead is None else ms(overhead),
        )


def ms(seconds: float) -> float:
    """Seconds as milliseconds, to the microsecond, never negative."""
    return max(0.0, round(seconds * 1000, 3))
