"""Which flowers a side may plant: the rules of beds and gardens (seed: "Gärten").

A pair is judged by what would stand there afterwards. Of a side's own flowers, those connected by sides are at most
four; four of them, a garden, share no corner with any other of its flowers. The opponent's flowers never matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import compress

from .board import GARDEN, Board, bits
from .moves import Plant

_FLAGS = bytes.maketrans(b"01", b"\0\1")


@dataclass(frozen=True, slots=True)
class Plot:
    """What one side has on the board, as sets of fields, edges and points; all follows from flowers and ditches."""

    flowers: int = 0
    """Fields with a flower of the side."""
    ditches: int = 0
    """Edges with a ditch of the side."""
    gardens: int = field(default=0, compare=False)
    """Fields of the side's gardens."""
    corners: int = field(default=0, compare=False)
    """Points at the side's flowers."""
    border: int = field(default=0, compare=False)
    """Fields that share a side with one of the side's flowers (such flowers among them)."""
    closed: int = field(default=0, compare=False)
    """Fields that share a corner with one of the side's gardens (the gardens among them)."""

    @staticmethod
    def of(board: Board, flowers: int, ditches: int) -> Plot:
        """The plot with these flowers and ditches; that they are legal is the caller's affair."""
        gardens = corners = closed = 0
        for one in bits(flowers):
            corners |= board.corners[one]
        for bed in beds(board, flowers):
            if bed.bit_count() == GARDEN:
                gardens |= bed
                closed |= board.around_all(bed)
        return Plot(flowers, ditches, gardens, corners, board.beside_all(flowers), closed)

    def planted(self, board: Board, first: int, second: int) -> Plot:
        """With flowers on two more fields; that they are legal is the caller's affair."""
        flowers = self.flowers | 1 << first | 1 << second
        gardens, closed = self.gardens, self.closed
        for one in (first, second):
            if board.beside[one] & flowers:
                bed = board.bed(flowers, one)
                if bed.bit_count() == GARDEN:
                    gardens |= bed
                    closed |= board.around_all(bed)
        corners = self.corners | board.corners[first] | board.corners[second]
        border = self.border | board.beside[first] | board.beside[second]
        return Plot(flowers, self.ditches, gardens, corners, border, closed)

    def dug(self, edge: int) -> Plot:
        """With a ditch on ``edge`` too."""
        return Plot(self.flowers, self.ditches | 1 << edge, self.gardens, self.corners, self.border, self.closed)


def beds(board: Board, flowers: int) -> Iterator[int]:
    """The flowers by what is connected by sides: beds and gardens."""
    while flowers:
        lowest = flowers & -flowers
        bed = board.bed(flowers, lowest.bit_length() - 1)
        yield bed
        flowers ^= bed


def is_sound(board: Board, flowers: int, bed: int) -> bool:
    """Whether ``bed``, one of the beds of ``flowers``, is small enough and, if a garden, far enough from the others."""
    size = bed.bit_count()
    return size < GARDEN or (size == GARDEN and not board.around_all(bed) & flowers & ~bed)


def fits(board: Board, plot: Plot, first: int, second: int) -> bool:
    """Whether the side may plant two fields that are empty and fertile; with twice the same: whether it alone fits."""
    pair = 1 << first | 1 << second
    if pair & plot.closed:
        return False
    flowers = plot.flowers | pair
    if not (board.beside[first] | board.beside[second]) & flowers:
        return True
    bed = board.bed(flowers, first)
    return is_sound(board, flowers, bed) and (
        bed & pair == pair or is_sound(board, flowers, board.bed(flowers, second))
    )


def can_plant(board: Board, plot: Plot, free: int) -> bool:
    """Whether any pair is legal, found without listing them."""
    candidates = free & ~plot.closed
    away = candidates & ~plot.border
    if away & (away - 1):  # two fields that touch no own bed by a side: always a legal pair
        return True
    found: list[int] = []
    for one in bits(candidates):
        if fits(board, plot, one, one):
            if any(fits(board, plot, one, other) for other in found):
                return True
            found.append(one)
    return False


@dataclass(frozen=True, slots=True)
class Pairs:
    """All legal pairs of flowers of a side, told apart without listing them."""

    board: Board
    fields: int
    """The fields that the side might plant if it had to plant one flower only."""
    clashes: dict[int, int]
    """Field -> those of ``fields`` that it may not be planted with; few have any."""

    def partners(self, one: int) -> int:
        """The fields that may be planted together with ``one`` of ``fields``."""
        return self.fields & ~(self.clashes.get(one, 0) | 1 << one)

    def moves(self) -> Iterator[Plant]:
        """The pairs as moves, in the order of the first field, then of the second."""
        for one in bits(self.fields):
            later = self.partners(one) >> one + 1
            yield from compress(self.board.plants(one), format(later, "b")[::-1].encode().translate(_FLAGS))


def pairs(board: Board, plot: Plot, free: int) -> Pairs:
    """The legal pairs on the empty and fertile fields ``free``.

    A field belongs to no pair if it can't be planted alone. Two that can each be planted alone clash only near each
    other: if one completes a garden that the other touches, or if both together make a bed too large or a garden that
    touches another bed.
    """
    flowers = plot.flowers
    fields = free & ~plot.closed
    beds: dict[int, int] = {}
    for one in bits(fields & plot.border):
        bed = board.bed(flowers, one)
        if is_sound(board, flowers, bed):
            beds[one] = bed
        else:
            fields ^= 1 << one
    clashes: dict[int, int] = {}
    for one, bed in beds.items():
        if bed.bit_count() == GARDEN:
            rivals = board.around_all(bed) & fields & ~bed
        else:
            rivals = 0
            for other in bits(board.beside_all(bed) & fields & ~bed):
                if not is_sound(board, flowers, bed | beds.get(other, 1 << other)):
                    rivals |= 1 << other
        if rivals:
            clashes[one] = clashes.get(one, 0) | rivals
            for other in bits(rivals):
                clashes[other] = clashes.get(other, 0) | 1 << one
    return Pairs(board, fields, clashes)
