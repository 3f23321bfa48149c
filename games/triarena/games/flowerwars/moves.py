"""The moves of FlowerWars: plant two flowers, dig a ditch, end the game. They know no board and no size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from triarena.games.core import MalformedMove

Point: TypeAlias = tuple[int, int]
"""(column, row), both from 1; (1, 1) is the bottom left corner of the board."""

Ditch: TypeAlias = tuple[Point, Point]
"""The two ends of a ditch, the lower one first, on one row the left one."""


@dataclass(frozen=True, slots=True)
class Flower:
    """A flower's field: a triangle between three neighbouring points.

    With ``up`` its corners are (c, r), (c+1, r), (c, r+1), without it (c+1, r), (c, r+1), (c+1, r+1),
    where c is ``column`` and r is ``row``.
    """

    column: int
    row: int
    up: bool

    @property
    def points(self) -> tuple[Point, Point, Point]:
        """The corners by row, then by column."""
        c, r = self.column, self.row
        if self.up:
            return (c, r), (c + 1, r), (c, r + 1)
        return (c + 1, r), (c, r + 1), (c + 1, r + 1)

    @staticmethod
    def at(points: Sequence[Point]) -> Flower:
        """The flower between three points, given in any order. Raises MalformedMove if they are no small triangle."""
        first, second, third = sorted(points, key=_by_row)
        c, r = first
        if (second, third) == ((c + 1, r), (c, r + 1)):
            return Flower(c, r, up=True)
        if (second, third) == ((c - 1, r + 1), (c, r + 1)):
            return Flower(c - 1, r, up=False)
        text = ",".join(f"({column},{row})" for column, row in points)
        if first == second or second == third:
            raise MalformedMove(f"the flower {{{text}}} names a point twice", "flower_point_repeated")
        if (second[0] - c) * (third[1] - r) == (third[0] - c) * (second[1] - r):
            raise MalformedMove(f"the points of the flower {{{text}}} lie on one line", "flower_collinear")
        raise MalformedMove(f"the points of the flower {{{text}}} are not all neighbours", "flower_not_a_triangle")


@dataclass(frozen=True, slots=True)
class Plant:
    """Plants two flowers at once; they are kept in the order of the fields (row by row, from the left)."""

    first: Flower
    second: Flower

    def __post_init__(self) -> None:
        a, b = self.first, self.second
        if b.row < a.row or (b.row == a.row and (b.column, not b.up) < (a.column, not a.up)):
            object.__setattr__(self, "first", b)
            object.__setattr__(self, "second", a)

    @property
    def flowers(self) -> tuple[Flower, Flower]:
        """Both flowers."""
        return self.first, self.second


@dataclass(frozen=True, slots=True)
class Dig:
    """Digs a ditch between two points; the lower one is kept first, on one row the left one."""

    ditch: Ditch

    def __post_init__(self) -> None:
        start, end = self.ditch
        if _by_row(end) < _by_row(start):
            object.__setattr__(self, "ditch", (end, start))


@dataclass(frozen=True, slots=True)
class End:
    """Ends the game; allowed as soon as the side to move can no longer plant two flowers."""


Move: TypeAlias = Plant | Dig | End


def _by_row(point: Point) -> tuple[int, int]:
    return point[1], point[0]
