"""The geometry of a board: which fields, points and edges are neighbours, as bit sets, computed once per size.

A *field* is a number from 0 in the order of the notation: row by row from below, in a row from the left. A *point* is a
bit number in which a step to the right adds 1 and a step up adds ``stride``; an *edge* is the bit number of its first
point plus ``DIRECTION * block``. Sets of any of them are integers with one bit per member.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

from .moves import Dig, Ditch, Flower, Plant, Point

MIN_SIZE = 3
MAX_SIZE = 30
GARDEN = 4
"""So many flowers, connected by sides, are a garden; fewer are a bed; more are never allowed."""


def bits(members: int) -> Iterator[int]:
    """The members of a set, in ascending order."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Board:
    """The tables of one size; get it from ``board(size)``, which makes each size once."""

    size: int
    flowers: tuple[Flower, ...]
    """Field -> the flower that grows there."""
    row_offset: tuple[int, ...]
    """Row -> what the field number of its flowers adds to twice the column."""
    beside: tuple[int, ...]
    """Field -> the one to three fields that share a side with it."""
    around: tuple[int, ...]
    """Field -> the fields that share a corner with it, itself included."""
    corners: tuple[int, ...]
    """Field -> its three points."""
    sides: tuple[int, ...]
    """Field -> its three edges."""
    stride: int
    block: int
    """One more than the greatest bit number of a point."""
    digs: dict[int, Dig]
    """Edge -> the move that digs a ditch there."""
    edges: dict[Ditch, int]
    """Ditch -> edge."""
    edge_fields: dict[int, int]
    """Edge -> the one or two fields that have it as a side."""
    edge_ends: dict[int, int]
    """Edge -> its two points."""
    edge_around: dict[int, int]
    """Edge -> the fields that have one of its ends as a corner."""

    def __repr__(self) -> str:
        return f"board({self.size})"

    def __reduce__(self) -> tuple[Any, ...]:
        return board, (self.size,)

    @property
    def fields(self) -> int:
        """The set of all fields."""
        return (1 << len(self.flowers)) - 1

    def has(self, flower: Flower) -> bool:
        """Whether the flower's field is on the board."""
        c, r = flower.column, flower.row
        return c >= 1 and r >= 1 and c + r <= self.size + flower.up

    def field(self, flower: Flower) -> int:
        """The number of the field of a flower that the board has."""
        return self.row_offset[flower.row] + 2 * flower.column - flower.up

    def has_point(self, point: Point) -> bool:
        """Whether the point is on the board."""
        c, r = point
        return c >= 1 and r >= 1 and c + r <= self.size + 2

    def point(self, point: Point) -> int:
        """The bit number of a point that the board has."""
        c, r = point
        return r * self.stride + c

    def bed(self, flowers: int, field: int) -> int:
        """The bed that ``field`` belongs to, were it planted too: all flowers connected to it by sides."""
        beside = self.beside
        bed = 1 << field
        growth = beside[field] & flowers
        while growth:
            bed |= growth
            reached = 0
            while growth:  # as beside_all, spelled out: every move asks for beds
                lowest = growth & -growth
                reached |= beside[lowest.bit_length() - 1]
                growth ^= lowest
            growth = reached & flowers & ~bed
        return bed

    def beside_all(self, fields: int) -> int:
        """The fields that share a side with any of ``fields``."""
        beside = self.beside
        found = 0
        while fields:
            lowest = fields & -fields
            found |= beside[lowest.bit_length() - 1]
            fields ^= lowest
        return found

    def around_all(self, fields: int) -> int:
        """The fields that share a corner with any of ``fields``, these included."""
        around = self.around
        found = 0
        while fields:
            lowest = fields & -fields
            found |= around[lowest.bit_length() - 1]
            fields ^= lowest
        return found

    def edges_between(self, points: int) -> int:
        """The edges of which both ends are among ``points``."""
        up, left_up = self.stride, self.stride - 1
        return (
            points & points >> 1
            | (points & points >> up) << self.block
            | (points & points >> left_up) << 2 * self.block
        )

    def plants(self, field: int) -> tuple[Plant, ...]:
        """The moves that plant ``field`` and one of the fields after it, in order; the same values every time."""
        return _plants(self.size, field)


@cache
def _plants(size: int, field: int) -> tuple[Plant, ...]:
    flowers = board(size).flowers
    first = flowers[field]
    return tuple(Plant(first, second) for second in flowers[field + 1 :])


@cache
def board(size: int) -> Board:
    """The board of a size from MIN_SIZE to MAX_SIZE."""
    stride = size + 2
    flowers = tuple(
        Flower((place + 2) // 2, row, up=place % 2 == 0)
        for row in range(1, size + 1)
        for place in range(2 * (size - row) + 1)
    )
    points = {(c, r): r * stride + c for r in range(1, size + 2) for c in range(1, size + 3 - r)}
    block = max(points.values()) + 1
    corners = tuple(_set(points[point] for point in flower.points) for flower in flowers)

    edges: dict[Ditch, int] = {}
    for direction, (right, up) in enumerate(((1, 0), (0, 1), (-1, 1))):
        for (c, r), point in points.items():
            if (c + right, r + up) in points:
                edges[(c, r), (c + right, r + up)] = point + direction * block
    edge_ends = {edge: _set(points[end] for end in ditch) for ditch, edge in edges.items()}
    edge_fields = dict.fromkeys(edge_ends, 0)
    sides = [0] * len(flowers)
    fields_at = dict.fromkeys(points.values(), 0)
    for field, flower in enumerate(flowers):
        for side in combinations(flower.points, 2):
            edge = edges[Dig(side).ditch]
            edge_fields[edge] |= 1 << field
            sides[field] |= 1 << edge
        for corner in flower.points:
            fields_at[points[corner]] |= 1 << field

    def at_points(which: int) -> int:
        """The fields that have one of the points as a corner."""
        return _union(fields_at[point] for point in bits(which))

    return Board(
        size=size,
        flowers=flowers,
        row_offset=(0, *(_row_start(size, row) - 1 for row in range(1, size + 1))),
        beside=tuple(_union(edge_fields[e] for e in bits(sides[f])) & ~(1 << f) for f in range(len(flowers))),
        around=tuple(at_points(mask) for mask in corners),
        corners=corners,
        sides=tuple(sides),
        stride=stride,
        block=block,
        digs={edge: Dig(ditch) for ditch, edge in edges.items()},
        edges=edges,
        edge_fields=edge_fields,
        edge_ends=edge_ends,
        edge_around={edge: at_points(ends) for edge, ends in edge_ends.items()},
    )


def _row_start(size: int, row: int) -> int:
    """The first field of a row: the rows below have 2n - 1, 2n - 3, ... fields."""
    return (row - 1) * (2 * size - row + 1)


def _set(members: Iterator[int]) -> int:
    return _union(1 << member for member in members)


def _union(sets: Iterator[int]) -> int:
    found = 0
    for one in sets:
        found |= one
    return found
