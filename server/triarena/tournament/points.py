"""What a result is worth: the table of points, chosen by whoever organises."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Final

from .values import Played

CONCEDED: Final = frozenset({"surrender"})
"""Reasons that the referee calls a forfeit although the loser did nothing wrong: worth an ordinary loss."""


@dataclass(frozen=True, slots=True)
class PointTable:
    """Points by result. Raises ValueError for one that is not finite, or a win worth less than a draw or a loss."""

    win: float = 1.0
    draw: float = 0.5
    loss: float = 0.0
    bye: float = 1.0
    """Of each round that a player sits out."""
    forfeit_loss: float = 0.0
    """Of one who failed alone: crashed, came late, moved illegally. May be negative; the opponent has a win."""
    both_failed: float = 0.0
    """Of each, when both failed at once."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not math.isfinite(value):
                raise ValueError(f"the points of {field.name} must be a finite number, not {value}")
        if not self.win >= self.draw >= self.loss:
            raise ValueError(
                f"a win must be worth at least a draw, and a draw at least a loss; they are worth {self.win:g}, "
                f"{self.draw:g} and {self.loss:g}"
            )
        if self.forfeit_loss > self.loss:
            raise ValueError(
                f"a forfeit must not be worth more than a loss; they are worth {self.forfeit_loss:g} and {self.loss:g}"
            )

    def points(self, played: Played, player: str) -> float:
        """What a game is worth to one of its players. Raises ValueError for one who did not play it."""
        side = played.fixture.side_of(player)
        if played.winner is not None:
            if played.winner == side:
                return self.win
            return self.forfeit_loss if side in played.offenders and played.reason not in CONCEDED else self.loss
        return self.both_failed if played.offenders else self.draw


STANDARD: Final = PointTable()
"""Chess's: a win 1, a draw 1/2, a bye as a win, a failure no worse than a loss."""


def total(values: Iterable[float]) -> float:
    """A sum that depends neither on the order of its terms nor on their last bits, so equal totals compare equal."""
    return round(math.fsum(values), 9) + 0.0  # never -0.0
