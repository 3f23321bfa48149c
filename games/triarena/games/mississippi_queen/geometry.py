"""Hexagons in cube coordinates: directions, field numbers, and where the fields of a segment lie.

A field is (q, r, s) with q + r + s = 0. Inside the engine it is one integer, its *cell*, so that the
neighbour in a direction is an addition. Everything here is fixed by the rules; no board is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import cache
from typing import NamedTuple, TypeAlias

Coordinates: TypeAlias = tuple[int, int, int]
"""A field as (q, r, s)."""

COLUMNS, ROWS, SEGMENTS = 4, 5, 8
"""A segment has 4 columns (column 3 is its front) of 5 rows; a river has 8 segments."""


class Direction(IntEnum):
    """The six directions, clockwise; the lower-case name is the word on the wire."""

    RIGHT = 0
    DOWN_RIGHT = 1
    DOWN_LEFT = 2
    LEFT = 3
    UP_LEFT = 4
    UP_RIGHT = 5

    @property
    def opposite(self) -> Direction:
        """The direction back."""
        return DIRECTIONS[(self + 3) % 6]

    @property
    def vector(self) -> Coordinates:
        """The step of one field."""
        return _VECTORS[self]

    @property
    def code(self) -> str:
        """The one or two letters of the notation, e.g. ``DR``."""
        return _CODES[self]

    @property
    def word(self) -> str:
        """The word on the wire, e.g. ``down_right``."""
        return _DIRECTION_WORDS[self]


DIRECTIONS = tuple(Direction)
_VECTORS: tuple[Coordinates, ...] = ((1, 0, -1), (0, 1, -1), (-1, 1, 0), (-1, 0, 1), (0, -1, 1), (1, -1, 0))
_CODES = ("R", "DR", "DL", "L", "UL", "UR")
_DIRECTION_WORDS = tuple(direction.name.lower() for direction in DIRECTIONS)

TURN_STEPS = tuple(tuple((0, 1, 2, 3, 2, 1)[(to - of) % 6] for to in range(6)) for of in range(6))
"""``TURN_STEPS[of][to]``: how many steps of 60 degrees lie between two directions, 0 to 3."""

_SPAN = 36
_WIDTH = 2 * _SPAN + 1
CELLS = _WIDTH * _WIDTH
"""How many cells there are. No river leaves them, not even by one step: its fields are at most 31 from the origin."""

STEPS = tuple(r * _WIDTH + q for q, r, _ in _VECTORS)
"""``cell + STEPS[direction]`` is the neighbouring cell."""


class Hex(NamedTuple):
    """A field in cube coordinates, q + r + s = 0; also a plain tuple, so that ``(3, -1, -2)`` equals it."""

    q: int
    r: int
    s: int

    def __str__(self) -> str:
        return f"({self.q}, {self.r}, {self.s})"

    def neighbour(self, direction: Direction) -> Hex:
        """The field one step away in a direction."""
        q, r, s = _VECTORS[direction]
        return Hex(self.q + q, self.r + r, self.s + s)

    def neighbours(self) -> tuple[Hex, ...]:
        """The six fields around it, clockwise from the right: ``neighbours()[direction]``."""
        return tuple(map(self.neighbour, DIRECTIONS))

    def distance(self, other: Coordinates) -> int:
        """The steps to another field, whatever lies between."""
        return max(abs(self.q - other[0]), abs(self.r - other[1]), abs(self.s - other[2]))


def cell_at(field: Coordinates) -> int:
    """The cell of a field; raises ValueError where no river can reach."""
    q, r, s = field
    if q + r + s != 0 or max(abs(q), abs(r)) > _SPAN:
        raise ValueError(f"({q}, {r}, {s}) is no field that a river can reach")
    return (r + _SPAN) * _WIDTH + q + _SPAN


def field_of(cell: int) -> Hex:
    """The field of a cell."""
    r, q = divmod(cell, _WIDTH)
    return Hex(q - _SPAN, r - _SPAN, 2 * _SPAN - q - r)


def local_field(column: int, row: int) -> Coordinates:
    """Where a column and row of a segment lie that points right, from its centre."""
    r = row - 2
    q = column - 1 - max(r, 0)
    return (q, r, -q - r)


def local_column_and_row(field: Coordinates) -> tuple[int, int]:
    """The inverse of ``local_field``; column -1 is the one just before the segment."""
    q, r, _ = field
    return max(q, q + r) + 1, r + 2


def add(field: Coordinates, other: Coordinates, times: int = 1) -> Coordinates:
    """``field`` plus ``times`` times ``other``."""
    return (field[0] + times * other[0], field[1] + times * other[1], field[2] + times * other[2])


@cache
def segment_cells(direction: Direction, center: Coordinates) -> tuple[int, ...]:
    """The 20 cells of a segment, column by column from the back, in each from row 0 to 4."""
    cells = []
    for column in range(COLUMNS):
        for row in range(ROWS):
            q, r, s = local_field(column, row)
            for _ in range(direction):
                q, r, s = -r, -s, -q
            cells.append(cell_at(add(center, (q, r, s))))
    return tuple(cells)


@cache
def middle_cells(direction: Direction, center: Coordinates, onward: Direction) -> tuple[int, ...]:
    """The four cells of a segment through which the stream runs; it bends at the centre towards ``onward``."""
    return (
        cell_at(add(center, direction.vector, -1)),
        cell_at(center),
        cell_at(add(center, onward.vector)),
        cell_at(add(center, onward.vector, 2)),
    )


def next_directions(directions: Sequence[Direction]) -> tuple[Direction, ...]:
    """Which directions the segment after those may have: at most one step aside, and no third turn the same way.

    The first two always point right.
    """
    known = len(directions)
    if known < 2:
        return (Direction.RIGHT,)
    barred = directions[max(known - 3, 0)].opposite
    around = (DIRECTIONS[(directions[-1] + turn) % 6] for turn in (-1, 0, 1))
    return tuple(direction for direction in around if direction is not barred)


def next_center(centers: Sequence[Coordinates], direction: Direction) -> Coordinates:
    """The centre of the segment after those, if it points to ``direction``."""
    return add(centers[-1], direction.vector, COLUMNS) if centers else (0, 0, 0)
