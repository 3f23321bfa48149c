"""Formats whose next round depends on the results of those before."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from .colours import colours_so_far, imbalance, seated
from .meeting import check_games, check_players, meet
from .seeds import Seeds
from .values import History, Plan, Played, Round

RoundResults: TypeAlias = tuple[Played, ...]
"""All results of a round, in the order of its fixtures."""


class RoundByRound(ABC):
    """Plans a round when all games of the one before are played.

    The answer is a function of what was played, and of nothing else. What was worked out is kept as long as it rests
    on the same results, so that asking after every game costs no more than looking them through.
    """

    def __init__(self, players: Sequence[str], games_per_pairing: int, seeds: Seeds, rounds: int | None) -> None:
        check_players(players)
        check_games(games_per_pairing)
        self.players = tuple(players)
        self.games_per_pairing = games_per_pairing
        self.seeds = seeds
        self.rounds = rounds
        self._planned: list[Round] = []
        self._based_on: list[RoundResults] = []  # the results of planned rounds that a later one rests on

    @abstractmethod
    def next_round(self, rounds: Sequence[Round], results: Sequence[RoundResults]) -> Round:
        """The pairings of the round after these, given all their results."""

    def plan(self, played: History) -> Plan:
        """The rounds up to the first with a game that is not played."""
        rounds: list[Round] = []
        results: list[RoundResults] = []
        while self.rounds is None or len(rounds) < self.rounds:
            if len(rounds) == len(self._planned):
                self._planned.append(self.next_round(rounds, results))
            rounds.append(self._planned[len(rounds)])
            finished = _results(rounds[-1], played)
            if finished is None:
                break
            self._keep(len(results), finished)
            results.append(finished)
        return Plan(tuple(rounds), complete=len(rounds) == self.rounds)

    def placing(self, played: History) -> tuple[tuple[str, ...], ...] | None:
        """None: points decide, unless a format says otherwise."""
        return None

    def number_of_games(self) -> tuple[int, int | None]:
        """At least and at most so many; a ladder without end has no bounds."""
        if self.rounds is None:
            return 0, None
        games = self.rounds * (len(self.players) // 2) * self.games_per_pairing
        return games, games

    def imbalances(self, rounds: Sequence[Round]) -> dict[str, int]:
        """Everybody's games as red less those as blue: 0 where games come in pairs, for they are balanced anyway."""
        if self.games_per_pairing > 1:
            return dict.fromkeys(self.players, 0)
        return {name: imbalance(sides) for name, sides in colours_so_far(self.players, rounds).items()}

    def round_of(self, pairings: Iterable[tuple[str | None, str | None]], rounds: Sequence[Round]) -> Round:
        """The round after these, of pairings with the better player first; who meets None has the bye."""
        number = len(rounds) + 1
        meetings, byes = [], []
        for better, other in pairings:
            if better is not None and other is not None:
                meetings.append((better, other))
            else:
                byes += [name for name in (better, other) if name is not None]
        tables = enumerate(seated(meetings, colours_so_far(self.players, rounds)), 1)
        encounters = (meet(number, table, *each, self.games_per_pairing, self.seeds) for table, each in tables)
        return Round(number, tuple(encounters), tuple(byes))

    def _keep(self, index: int, results: RoundResults) -> None:
        """Forgets what was planned on other results of that round."""
        if index < len(self._based_on) and self._based_on[index] == results:
            return
        del self._planned[index + 1 :]
        self._based_on[index:] = [results]


def _results(round_: Round, played: History) -> RoundResults | None:
    found = tuple(played[fixture.id] for fixture in round_.fixtures() if fixture.id in played)
    return found if len(found) == sum(len(each.fixtures) for each in round_.encounters) else None
