"""Who stands where: a pure function of the plan's byes and of what was played, in whatever order that ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from .points import STANDARD, PointTable
from .tally import Tally, groups, tallies
from .tie_breaks import TIE_BREAKS
from .values import History, Plan


@dataclass(frozen=True, slots=True)
class Row:
    """One player's line in the standings. ``wins + draws + losses == played``; both failed: a loss of both."""

    rank: int
    """From 1. Shared only by players whom the format itself places together (`Format.placing`)."""
    player: str
    played: int
    wins: int
    draws: int
    losses: int
    points: float
    """Those of byes included."""
    tie_breaks: Mapping[str, float]
    """By name, in the order in which they are applied. Those of direct encounter compare only players who are equal
    in all that comes before; 0 for one with no equal."""
    forfeits: Mapping[str, int]
    """How often the player failed, by the referee's reason; `tally.irregular` sums them up in people's words."""
    unfinished: int
    """How many of the draws were broken off as undecided (`tally.UNFINISHED`)."""
    byes: int
    by_lot: bool
    """Whether only the lot parts the player from a neighbour in the table."""


def standings(
    players: Sequence[str],
    byes: Plan | Mapping[str, int],
    played: History,
    table: PointTable = STANDARD,
    tie_breaks: Sequence[str] = ("direct_encounter", "buchholz", "sonneborn_berger", "wins"),
    lot_seed: int = 0,
    placing: Sequence[Sequence[str]] | None = None,
) -> tuple[Row, ...]:
    """The table, best first: by points, then the tie-breaks in turn, then the lot.

    ``byes`` are those of a plan's rounds that have begun, each worth the table's points, or given by the player's name.
    With ``placing`` (`Format.placing`) its places come first and are shared; the rest only orders the lines of one
    place. Raises ValueError for an unknown tie-break, and for a game of, or a place for, somebody who is none of the
    players.
    """
    check_tie_breaks(tie_breaks)
    everybody = tallies(players, byes, played, table)
    places = [list(players)] if placing is None else [list(place) for place in placing]
    if sorted(player for place in places for player in place) != sorted(players):
        raise ValueError("the format's places must name every player once")
    rows: list[Row] = []
    for place in places:
        parted = _parted(place, everybody, table, tie_breaks)
        first = len(rows) + 1
        for tied, values in parted:
            for player in sorted(tied, key=lambda player: lot(lot_seed, player)):
                rank = len(rows) + 1 if placing is None else first
                by_lot = len(tied) > 1 and placing is None
                rows.append(_row(rank, everybody[player], values[player], by_lot))
    return tuple(rows)


def check_tie_breaks(names: Sequence[str]) -> None:
    """Raises ValueError for a name that TIE_BREAKS lacks, or that comes twice."""
    for index, name in enumerate(names):
        if name not in TIE_BREAKS:
            raise ValueError(f"there is no tie-break {name!r}; there are {', '.join(TIE_BREAKS)}")
        if name in names[:index]:
            raise ValueError(f"the tie-break {name!r} is named twice")


def lot(seed: int, player: str) -> bytes:
    """What a player draws: whose is smaller goes first. The same on every machine; independent of the other players."""
    return sha256(f"triarena lot {seed} {player}".encode()).digest()


def _parted(
    players: Sequence[str], everybody: Mapping[str, Tally], table: PointTable, names: Sequence[str]
) -> list[tuple[list[str], dict[str, dict[str, float]]]]:
    """Groups of players who are equal in everything, best first, with each player's values by tie-break."""
    values: dict[str, dict[str, float]] = {player: {} for player in players}
    tied = groups(players, {player: everybody[player].points for player in players})
    for name in names:
        finer: list[list[str]] = []
        for group in tied:
            found = TIE_BREAKS[name](group, everybody, table)
            for player in group:
                values[player][name] = found[player]
            finer += groups(group, found)
        tied = finer
    return [(group, values) for group in tied]


def _row(rank: int, tally: Tally, values: Mapping[str, float], by_lot: bool) -> Row:
    return Row(
        rank=rank,
        player=tally.player,
        played=tally.played,
        wins=tally.wins,
        draws=tally.draws,
        losses=tally.losses,
        points=tally.points,
        tie_breaks=values,
        forfeits=tally.forfeits,
        unfinished=tally.unfinished,
        byes=tally.byes,
        by_lot=by_lot,
    )
