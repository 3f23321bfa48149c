"""Everybody meets everybody, once (round robin) or in two legs (double round robin).

The circle method in the numbering of the Berger tables (FIDE Handbook, C.05 General Regulations for Competitions,
Annex 1 "Details of Berger table"): with m + 1 players, m odd, those who meet in round r are the i, j <= m with
i + j = r + 1 (mod m); the last player meets the one for whom 2i = r + 1 (mod m). With an odd number of players the
last one is nobody, and who would meet him rests. Resting is no bye here: everybody rests once, for no points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .meeting import check_games, check_players, meet
from .seeds import Seeds
from .values import Encounter, Fixture, History, Plan, Round


def berger_rounds(players: Sequence[str]) -> tuple[tuple[tuple[str, str], ...], ...]:
    """The pairings (red, blue) of every round of a round robin, the last player's first.

    As red and as blue everybody plays equally often, or once more often if the number of opponents is odd.
    """
    last = len(players) + len(players) % 2
    return tuple(
        tuple(
            (players[red - 1], players[blue - 1])
            for red, blue in _berger_round(number, last)
            if red <= len(players) and blue <= len(players)
        )
        for number in range(1, last)
    )


def _berger_round(number: int, last: int) -> list[tuple[int, int]]:
    """Who meets whom in a round of ``last`` (an even number of) players, who are counted from 1."""
    others = last - 1
    centre = (number + 1) * (last // 2) % others or others  # half of number + 1, modulo an odd number
    pairings = [(centre, last) if centre <= last // 2 else (last, centre)]
    for step in range(1, last // 2):
        low, high = sorted(((centre - step) % others or others, (centre + step) % others or others))
        pairings.append((low, high) if (low + high) % 2 else (high, low))
    return pairings


class RoundRobin:
    """Everybody meets everybody: all rounds are known from the start."""

    def __init__(self, players: Sequence[str], games_per_pairing: int, seeds: Seeds) -> None:
        check_players(players)
        check_games(games_per_pairing)
        self._plan = Plan(_rounds(players, games_per_pairing, seeds), complete=True)

    def plan(self, played: History) -> Plan:
        """The whole schedule, whatever was played."""
        return self._plan

    def placing(self, played: History) -> None:
        """Points decide."""

    def number_of_games(self) -> tuple[int, int]:
        """At least and at most so many."""
        return counted(self._plan)


class DoubleRoundRobin:
    """Two round robins one after the other: the second leg repeats the first one's games with sides swapped.

    So the two games of a pair stand in different legs. The games per pairing count over both legs.
    """

    def __init__(self, players: Sequence[str], games_per_pairing: int, seeds: Seeds) -> None:
        check_players(players)
        if games_per_pairing < 2 or games_per_pairing % 2:
            raise ValueError(
                f"games_per_pairing of a double round robin must be even, not {games_per_pairing}: "
                "it counts the games of both legs together."
            )
        legs = _first_leg(players, games_per_pairing // 2, seeds)
        returns = tuple(_return(each, each.number + len(legs)) for each in legs)
        self._plan = Plan(legs + returns, complete=True)

    def plan(self, played: History) -> Plan:
        """The whole schedule, whatever was played."""
        return self._plan

    def placing(self, played: History) -> None:
        """Points decide."""

    def number_of_games(self) -> tuple[int, int]:
        """At least and at most so many."""
        return counted(self._plan)


def counted(plan: Plan) -> tuple[int, int]:
    """The number of games of a plan that will not change: at least and at most."""
    games = sum(1 for _ in plan.fixtures())
    return games, games


def _rounds(players: Sequence[str], games: int, seeds: Seeds) -> tuple[Round, ...]:
    return tuple(
        Round(
            number, tuple(meet(number, table, red, blue, games, seeds) for table, (red, blue) in enumerate(tables, 1))
        )
        for number, tables in enumerate(berger_rounds(players), 1)
    )


def _first_leg(players: Sequence[str], games: int, seeds: Seeds) -> tuple[Round, ...]:
    """Each game on a board of its own, colours in turn: what each of them lacks to a pair is in the second leg."""
    return tuple(
        Round(
            number,
            tuple(_half_pairs(number, table, red, blue, games, seeds) for table, (red, blue) in enumerate(tables, 1)),
        )
        for number, tables in enumerate(berger_rounds(players), 1)
    )


def _half_pairs(number: int, table: int, first: str, second: str, games: int, seeds: Seeds) -> Encounter:
    fixtures = []
    for game in range(1, games + 1):
        red, blue = (first, second) if game % 2 else (second, first)
        pair = f"{number}.{table}.{game}"
        fixtures.append(Fixture(number, table, game, red, blue, seeds.of_pair(pair, number, game - 1), pair))
    return Encounter(table, first, second, tuple(fixtures))


def _return(leg: Round, number: int) -> Round:
    """The round of the second leg that repeats a round of the first."""
    return Round(
        number,
        tuple(
            Encounter(
                each.table,
                each.second,
                each.first,
                tuple(replace(f, round=number, red=f.blue, blue=f.red) for f in each.fixtures),
            )
            for each in leg.encounters
        ),
    )
