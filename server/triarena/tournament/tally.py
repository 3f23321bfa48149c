"""What each player has so far: games, points, and whom they met. Standings, tie-breaks and cross tables read it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .points import PointTable, total
from .values import History, Plan, Played

UNPLAYED: Final = frozenset({"no_show", "start_failed"})
"""Reasons of results without play: points are given as for any result, but tie-breaks know them as unplayed."""

UNFINISHED: Final = frozenset({"ply_limit", "time_limit"})
"""Reasons of games that nobody had won when they had lasted as long as a game may: they are drawn."""

IRREGULAR: Final[Mapping[str, tuple[str, ...]]] = {
    "no-shows": ("no_show",),
    "time-outs": ("timeout",),
    "crashes": ("disconnected", "left", "stalled", "start_failed"),
    "illegal moves": ("illegal_move", "protocol_violation"),
}
"""How people call the ways of failing, with the reasons that each word stands for. To surrender is none.

A program that has died, also before it could play, one that has given up by an error of its own and one that hangs so
that not even its connection answers have crashed; one that thinks for too long has not.
"""


@dataclass(frozen=True, slots=True)
class Meeting:
    """All games of one encounter, as one of the two players sees it."""

    round: int
    opponent: str
    games: int
    points: float
    wins: int
    score_difference: float
    """The games' own points, mine less the opponent's; see `score_difference`."""
    unplayed: bool
    """Whether no game of it was really played."""


@dataclass(frozen=True, slots=True)
class Tally:
    """One player's results. ``wins + draws + losses == played``; that both failed is a loss of both."""

    player: str
    played: int
    wins: int
    draws: int
    losses: int
    byes: int
    points: float
    bye_points: float
    """The part of ``points`` that byes gave."""
    forfeits: Mapping[str, int]
    """How often the player failed, by the referee's reason."""
    unfinished: int
    """How many of the draws are games that were broken off as undecided, having lasted as long as a game may."""
    meetings: tuple[Meeting, ...]
    """By rounds."""


def irregular(forfeits: Mapping[str, int], kind: str) -> int:
    """How often a player failed in one of the ways of IRREGULAR, e.g. ``crashes``."""
    return sum(forfeits.get(reason, 0) for reason in IRREGULAR[kind])


def score_difference(played: Played, player: str) -> float:
    """The game's own points, the player's less the opponent's.

    Nobody gains by failing: one who failed while ahead has 0 instead; if both failed, both have 0.
    """
    red = played.red_score - played.blue_score
    if len(played.offenders) == 2:
        return 0.0
    if "red" in played.offenders:
        red = min(red, 0.0)
    elif "blue" in played.offenders:
        red = max(red, 0.0)
    return red if played.fixture.side_of(player) == "red" else -red


def paid_byes(plan: Plan, played: History) -> Counter[str]:
    """How many byes each player has had: those of rounds of which, or after which, something was played."""
    last = max((each.fixture.round for each in played.values()), default=0)
    return Counter(player for each in plan.rounds if each.number <= last for player in each.byes)


def tallies(
    players: Sequence[str], byes: Plan | Mapping[str, int], played: History, table: PointTable
) -> dict[str, Tally]:
    """Everybody's results, in the order of ``players``.

    ``byes`` are counted in a plan's rounds that have begun, or given. Raises ValueError if two players have one name,
    or if somebody played who is none of them.
    """
    if len(set(players)) != len(players):
        raise ValueError("two players have the same name")
    counted = paid_byes(byes, played) if isinstance(byes, Plan) else byes
    games: dict[str, list[Played]] = {player: [] for player in players}
    for each in played.values():
        for player in each.fixture.players:
            if player not in games:
                raise ValueError(f"{player!r} played game {each.fixture.id}, but is none of the tournament's players")
            games[player].append(each)
    for own in games.values():
        own.sort(key=_place)
    return {player: _tally(player, games[player], counted.get(player, 0), table) for player in players}


def _tally(player: str, games: Sequence[Played], byes: int, table: PointTable) -> Tally:
    by_encounter: dict[tuple[int, int], list[Played]] = defaultdict(list)
    for each in games:
        by_encounter[each.fixture.round, each.fixture.table].append(each)
    wins = sum(each.winner_name == player for each in games)
    draws = sum(each.winner is None and not each.offenders for each in games)
    sides = ((each, each.fixture.side_of(player)) for each in games)
    failed = [each.reason_of(side) for each, side in sides if side in each.offenders]
    return Tally(
        player=player,
        played=len(games),
        wins=wins,
        draws=draws,
        losses=len(games) - wins - draws,
        byes=byes,
        points=total([table.bye * byes, *(table.points(each, player) for each in games)]),
        bye_points=total([table.bye * byes]),
        forfeits=dict(sorted(Counter(failed).items())),
        unfinished=sum(each.reason in UNFINISHED and not each.offenders for each in games),
        meetings=tuple(_meeting(player, together, table) for together in by_encounter.values()),
    )


def _meeting(player: str, games: Sequence[Played], table: PointTable) -> Meeting:
    first = games[0].fixture
    return Meeting(
        round=first.round,
        opponent=first.blue if first.red == player else first.red,
        games=len(games),
        points=total(table.points(each, player) for each in games),
        wins=sum(each.winner_name == player for each in games),
        score_difference=total(score_difference(each, player) for each in games),
        unplayed=all(each.reason in UNPLAYED for each in games),
    )


def _place(played: Played) -> tuple[int, int, int]:
    fixture = played.fixture
    return fixture.round, fixture.table, fixture.number


def groups(players: Iterable[str], values: Mapping[str, float]) -> list[list[str]]:
    """The players with equal values together, highest first; within a group in the given order."""
    together: dict[float, list[str]] = defaultdict(list)
    for player in players:
        together[values[player]].append(player)
    return [together[value] for value in sorted(together, reverse=True)]
