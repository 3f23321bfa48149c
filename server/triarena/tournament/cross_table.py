"""Everybody against everybody: the results of each two players."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .points import STANDARD, PointTable, total
from .values import History


@dataclass(frozen=True, slots=True)
class Cell:
    """What one player made against another. ``wins + draws + losses == games``; both failed: a loss of both."""

    games: int
    wins: int
    draws: int
    losses: int
    points: float


def cross_table(
    players: Sequence[str], played: History, table: PointTable = STANDARD
) -> tuple[tuple[Cell | None, ...], ...]:
    """A row and a column for each player, in the given order (that of the standings, say); square.

    The cell in row A, column B is what A made against B; None for a player against himself and where no game was
    played. Byes stand in no cell. Raises KeyError if somebody played who is none of the players.
    """
    index = {player: place for place, player in enumerate(players)}
    cells: list[list[Cell | None]] = [[None] * len(players) for _ in players]
    for each in played.values():
        for player, opponent in (each.fixture.players, each.fixture.players[::-1]):
            row = cells[index[player]]
            row[index[opponent]] = _added(
                row[index[opponent]] or Cell(0, 0, 0, 0, 0.0),
                won=each.winner_name == player,
                drawn=each.winner is None and not each.offenders,
                points=table.points(each, player),
            )
    return tuple(tuple(row) for row in cells)


def _added(cell: Cell, *, won: bool, drawn: bool, points: float) -> Cell:
    return Cell(
        games=cell.games + 1,
        wins=cell.wins + won,
        draws=cell.draws + drawn,
        losses=cell.losses + (not won and not drawn),
        points=total([cell.points, points]),
    )
