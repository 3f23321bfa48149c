"""A ladder: in every round those meet who are rated next to each other, for as long as one likes.

Ratings are Glicko-2 ones, a round being a rating period; before the first round the seeding order stands in for them.
They are also what the bots are ranked by.
Of all pairings the one is taken that has, in this order: as few as possible who met in the round just before; the
bye (with an odd number of players) for whoever had fewest; with single games, as few as possible who play one side
three times more often than the other; the least sum of distances, which is found by minimum-weight matching; sides in
balance.

Distance is in places of the rating list. Every meeting within the last n - 1 rounds makes two players one place more
distant. So nobody plays the same two neighbours for ever, and yet nobody meets others than those within about the
square root of n places; both are our choice, there is no standard for ladders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from .colours import colour_costs
from .glicko2 import Rating, rate
from .matching import best_pairing
from .progressive import RoundByRound, RoundResults
from .seeds import Seeds
from .tally import groups
from .values import History, Round


class Ladder(RoundByRound):
    """Rounds paired by rating, without end unless a number of rounds is set."""

    def __init__(self, players: Sequence[str], games_per_pairing: int, seeds: Seeds, rounds: int | None = None) -> None:
        super().__init__(players, games_per_pairing, seeds, rounds)
        if rounds is not None and rounds < 1:
            raise ValueError(f"A ladder can have 1 round or more, not {rounds}; without a number it has no end.")
        self._rated: list[tuple[RoundResults, Mapping[str, Rating]]] = []

    def next_round(self, rounds: Sequence[Round], results: Sequence[RoundResults]) -> Round:
        """Neighbours by the ratings after all rounds so far."""
        ratings = self._ratings_after(results)
        ranked: list[str | None] = [*sorted(self.players, key=lambda name: -ratings[name].rating)]
        if len(ranked) % 2:
            ranked.append(None)
        partners = best_pairing(_costs(ranked, rounds, self.imbalances(rounds)))
        pairings = [(ranked[a], ranked[b]) for a, b in enumerate(partners) if a < b]
        return self.round_of(pairings, rounds)

    def ratings(self, played: History) -> Mapping[str, Rating]:
        """Everybody's rating after all games that were played; those of the round that is not over count as its own."""
        rounds = (
            tuple(played[each.id] for each in r.fixtures() if each.id in played) for r in self.plan(played).rounds
        )
        return self._ratings_after([each for each in rounds if each])

    def placing(self, played: History) -> tuple[tuple[str, ...], ...]:
        """By rating, the best first; those of whom nothing is known yet share a place."""
        ratings = self.ratings(played)
        return tuple(map(tuple, groups(self.players, {name: round(ratings[name].rating, 6) for name in self.players})))

    def _ratings_after(self, results: Sequence[RoundResults]) -> Mapping[str, Rating]:
        """Round by round, each from the ratings before it; those that rest on the same results are kept."""
        ratings: Mapping[str, Rating] = rate(self.players, ())
        for index, each in enumerate(results):
            if index < len(self._rated) and self._rated[index][0] != each:
                del self._rated[index:]
            if index == len(self._rated):
                self._rated.append((each, rate(self.players, [each], ratings)))
            ratings = self._rated[index][1]
        return ratings


def _costs(
    ranked: Sequence[str | None], rounds: Sequence[Round], imbalances: Mapping[str, int]
) -> list[list[tuple[int, ...]]]:
    """What it costs that two of the list meet; None is the bye, and stands at its end."""
    last = Counter(pair for each in rounds[-1:] for pair in _met(each))
    recent = Counter(pair for each in rounds[-(len(ranked) - 1) :] for pair in _met(each))
    byes = Counter(name for each in rounds for name in each.byes)

    def cost(a: int, b: int) -> tuple[int, ...]:
        one, other = ranked[min(a, b)], ranked[max(a, b)]
        pair = frozenset((one, other))
        distance = abs(a - b) + recent[pair]
        if one is None or other is None:
            return last[pair], byes[one or ""], 0, distance, imbalances.get(one or "", 0) ** 2
        lopsided, squares = colour_costs(imbalances[one], imbalances[other])
        return last[pair], 0, lopsided, distance, squares

    return [[cost(a, b) for b in range(len(ranked))] for a in range(len(ranked))]


def _met(round_: Round) -> list[frozenset[str | None]]:
    met = [frozenset[str | None]((each.first, each.second)) for each in round_.encounters]
    return met + [frozenset[str | None]((name, None)) for name in round_.byes]
