"""Clocks as values: what a side may use, what it has used. The time is passed in; nothing here reads it.

All times are seconds unless a name says otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from triarena.protocol.values import Budget, PerMove, TimeControl, Unlimited
from triarena.protocol.values import Clock as WireClock


@dataclass(frozen=True, slots=True)
class SideClock:
    """One side's clock in a match. Make the first one with ``SideClock.of(control)``."""

    control: TimeControl
    left_ms: float | None
    """What the next move may use; None without a clock."""
    used: float = 0.0
    """All moves together."""
    last: float | None = None
    """The latest move."""
    strikes: int = 0
    """Overruns that were forgiven."""

    @classmethod
    def of(cls, control: TimeControl) -> SideClock:
        """The clock before the first move."""
        match control:
            case PerMove(move_ms=limit) | Budget(budget_ms=limit):
                return cls(control, limit)
            case Unlimited():
                return cls(control, None)

    def patience(self) -> float:
        """How long an answer to ``your_turn`` is waited for; infinite without a clock."""
        match self.control:
            case PerMove(hard_ms=hard) if hard is not None and self._forgiving():
                return max(self._soft(), hard / 1000)
            case _:
                return self._soft()

    def lost(self, used: float) -> bool:
        """Whether a move that took ``used`` seconds came too late to count."""
        return used > self.patience() or (used > self._soft() and not self._forgiving())

    def charge(self, used: float) -> SideClock:
        """The clock after a move that took ``used`` seconds and was accepted."""
        left_ms, strikes = self.left_ms, self.strikes
        match self.control:
            case PerMove():
                strikes += used > self._soft()
            case Budget(increment_ms=increment):
                left_ms = max(0.0, (left_ms or 0.0) - used * 1000) + increment
            case Unlimited():
                pass
        return SideClock(self.control, left_ms, self.used + used, used, strikes)

    def tell(self, overhead: float | None, elapsed: float = 0.0) -> WireClock:
        """What ``your_turn`` says; ``overhead`` is what the server took since the opponent's move arrived, ``elapsed``
        what has gone of the turn already, for a client that came back in the middle of it.
        """
        return WireClock(
            limit_ms=self.left_ms,
            remaining_ms=None if self.left_ms is None else ms(self.left_ms / 1000 - elapsed),
            last_used_ms=None if self.last is None else ms(self.last),
            server_overhead_ms=None if overhead is None else ms(overhead),
        )

    @property
    def margin_ms(self) -> float:
        """What is granted beyond the limit."""
        return 0.0 if isinstance(self.control, Unlimited) else self.control.margin_ms

    def _soft(self) -> float:
        """Limit and margin."""
        return math.inf if self.left_ms is None else (self.left_ms + self.margin_ms) / 1000

    def _forgiving(self) -> bool:
        return isinstance(self.control, PerMove) and self.strikes < self.control.strikes


def ms(seconds: float) -> float:
    """Seconds as milliseconds, to the microsecond, never negative."""
    return max(0.0, round(seconds * 1000, 3))
