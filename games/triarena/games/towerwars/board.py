"""The board of one size: its fields, what is near what, where the bases stand. Computed once per size.

n x n hexagons in a parallelogram. A field is called by its column's letter and its row's number, A1 is the
top left corner; each row lies half a field further right than the one above. Inside the engine a field is a
number, counted along the rows from A1 = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from types import MappingProxyType
from typing import cast

from triarena.games.core import shown

from .moves import Step
from .pieces import BASE, BLUE, RED

MIN_SIZE = 4
MAX_SIZE = 26


@dataclass(frozen=True, slots=True, eq=False)
class Ring:
    """The fields at one distance of a start field, ready for listing moves."""

    targets: tuple[int, ...]
    steps: tuple[Step, ...]
    """The move from the start field to each of the targets."""
    pick: Callable[[bytes], tuple[int, ...]]
    """Given one byte per field of the board: the bytes of the targets."""


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """What follows from the size alone."""

    size: int
    max_height: int
    """Of towers."""
    fields: tuple[str, ...]
    """The names, by number."""
    index: Mapping[str, int]
    """The numbers, by name."""
    near: tuple[Ring, ...]
    """The neighbours of every field: those that share one of its sides."""
    red_base: int
    blue_base: int

    def number(self, field: str) -> int:
        """The number of a field. Raises ValueError for a field that the board has not."""
        if field not in self.index:
            size = f"the board of size {self.size}"
            raise ValueError(f"{size} has no field {shown(field)}; it has {self.fields[0]} to {self.fields[-1]}")
        return self.index[field]

    def start(self) -> bytes:
        """What stands where at the start: the bases, and stones up to distance n // 2 (seed: Startaufstellung)."""
        cells = bytearray(len(self.fields))
        for own, base in ((RED, self.red_base), (BLUE, self.blue_base)):
            for number, field in enumerate(self.fields):
                if distance(self.fields[base], field) <= self.size // 2:
                    cells[number] = own
            cells[base] = own | BASE
        return bytes(cells)


def field_name(column: int, row: int) -> str:
    """The name of a field; both count from 0: ``field_name(1, 2) == "B3"``."""
    return f"{chr(ord('A') + column)}{row + 1}"


_COORDINATES = {field_name(column, row): (column, row) for row in range(MAX_SIZE) for column in range(MAX_SIZE)}

ALL_FIELDS = frozenset(_COORDINATES)
"""The names of all fields of the largest board; those of the smaller boards are among them."""


def distance(one: str, two: str) -> int:
    """How many steps from field to neighbouring field lead from ``one`` to ``two``, on a board of any size.

    Raises KeyError for what is no field.
    """
    column_one, row_one = _COORDINATES[one]
    column_two, row_two = _COORDINATES[two]
    right, down = column_two - column_one, row_two - row_one
    return max(abs(right), abs(down), abs(right + down))


@cache
def board_of(size: int) -> Board:
    """The board of a size from MIN_SIZE to MAX_SIZE."""
    fields = tuple(field_name(column, row) for row in range(size) for column in range(size))
    return Board(
        size=size,
        max_height=size // 3,
        fields=fields,
        index=MappingProxyType({name: number for number, name in enumerate(fields)}),
        near=tuple(ring(size, start, 1) for start in range(size * size)),
        red_base=0,
        blue_base=size * size - 1,
    )


@cache
def ring(size: int, start: int, radius: int) -> Ring:
    """The fields at the distance ``radius`` (at least 1) from ``start``, row by row.

    Made when first asked for: far rings are many on a large board, and few of them are ever in reach.
    """
    row, column = divmod(start, size)
    targets = tuple(
        (row + down) * size + column + right
        for down in range(-radius, radius + 1)
        if 0 <= row + down < size
        for right in _columns(down, radius)
        if 0 <= column + right < size
    )
    name = field_name(column, row)
    steps = tuple(Step(name, field_name(target % size, target // size)) for target in targets)
    return Ring(targets, steps, _picker(targets))


def _columns(down: int, radius: int) -> tuple[int, ...]:
    """How far to the right the fields of a ring lie, ``down`` rows below its middle."""
    first, last = -radius - min(down, 0), radius - max(down, 0)
    return tuple(range(first, last + 1)) if abs(down) == radius else (first, last)


def _picker(targets: tuple[int, ...]) -> Callable[[bytes], tuple[int, ...]]:
    if len(targets) > 1:
        return cast(Callable[[bytes], tuple[int, ...]], itemgetter(*targets))
    return lambda values: tuple(values[target] for target in targets)  # itemgetter(x) makes no tuple
