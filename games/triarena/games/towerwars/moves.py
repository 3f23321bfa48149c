"""The one kind of move: a stone, or the top stone of a tower, goes from one field to another."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """What it does (step, build, raise, capture, block, unblock, win) follows from what stands where."""

    start: str
    """A field, e.g. ``"A1"``: letter of the column, number of the row."""
    target: str

    def __str__(self) -> str:
        return f"{self.start}->{self.target}"
