"""The points of a side: its gardens, and more for those that ditches connect (seed: "Spielende")."""

from __future__ import annotations

from .board import GARDEN, Board, bits
from .planting import Plot


def points(board: Board, plot: Plot) -> int:
    """p(1) = 1 for a garden by itself, p(k) = p(k - 1) + k for k gardens connected by ditches, over beds as well.

    Always counted afresh: beds that a ditch connects grow and fuse later, which no increment survives.
    """
    if not plot.gardens:
        return 0
    alone = plot.gardens
    total = 0
    for group in _connected(board, plot):
        gardens = (group & plot.gardens).bit_count() // GARDEN
        total += gardens * (gardens + 1) // 2
        alone &= ~group
    return total + alone.bit_count() // GARDEN


def _connected(board: Board, plot: Plot) -> list[int]:
    """The flowers that the side's ditches connect, as disjoint sets of fields.

    A ditch connects all own beds at either of its ends; beds that merely share a corner stay apart.
    """
    groups: list[int] = []
    for edge in bits(plot.ditches):
        joined = 0
        for one in bits(board.edge_around[edge] & plot.flowers):
            if not joined >> one & 1:
                joined |= board.bed(plot.flowers, one)
        apart = []
        for group in groups:
            if group & joined:
                joined |= group
            else:
                apart.append(group)
        groups = [*apart, joined]
    return groups
