"""What was measured beside what is asked for: a table, and whether everything is as good as it must be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MISSED: Final = "MISSED"
UNJUDGED: Final = "-"
"""In the place of a verdict, where the figures mean nothing."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure that must not be missed, and the one we aim at."""

    work: str
    measured: float
    unit: str
    reference: float | None
    """The other program's figure in the same unit; None if the bar is a figure by itself."""
    bar: float
    """For ``measured / reference``, or for ``measured`` itself."""
    aim: float
    at_most: bool = False
    """Whether less is better."""

    @property
    def figure(self) -> float:
        """What the bar is for."""
        return self.measured if self.reference is None else self.measured / self.reference

    @property
    def verdict(self) -> str:
        """``missed``, ``met``, or ``aim met``."""
        sign = -1 if self.at_most else 1
        if sign * self.figure < sign * self.bar:
            return MISSED
        return "aim met" if sign * self.figure >= sign * self.aim else "met"

    def plain(self, *, meant: bool = True) -> dict[str, str | float]:
        """Its figure, limit and verdict, for a file; without a verdict if the figure is not ``meant``."""
        limit = f"{'<=' if self.at_most else '>='} {self.bar:g}"
        unit = self.unit if self.reference is None else ""
        verdict = self.verdict if meant else UNJUDGED
        return {"work": self.work, "figure": self.figure, "unit": unit, "limit": limit, "verdict": verdict}

    def cells(self) -> list[str]:
        """Its line of the table."""
        limit = "<=" if self.at_most else ">="
        reference = "" if self.reference is None else shown(self.reference, 6)
        ratio = "" if self.reference is None else f"{self.figure:.3g}"
        measured = f"{shown(self.measured)} {self.unit}"
        return [self.work, measured, reference, ratio, f"{limit} {shown(self.bar)}", shown(self.aim), self.verdict]


def shown(figure: float, digits: int = 4) -> str:
    """So many digits of a figure that count, all of those before the point, and never as a power of ten."""
    before = len(str(int(abs(figure)))) if abs(figure) >= 1 else math.floor(math.log10(abs(figure) or 1)) + 1
    text = f"{float(f'{figure:.{digits}g}'):,.{max(0, digits - before)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


HEADINGS = ["work", "measured", "reference", "ratio", "bar", "aim", ""]


def table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Lines of columns, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(headings, *lines, strict=True)]
    rows = [headings, *lines]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def judged(bars: Sequence[Bar], *, meant: bool = True) -> tuple[str, bool]:
    """The table of all bars, and whether none is missed; without verdicts if the figures are not ``meant``."""
    lines = [bar.cells() if meant else [*bar.cells()[:-1], UNJUDGED] for bar in bars]
    return table(HEADINGS, lines), not meant or all(bar.verdict != MISSED for bar in bars)
