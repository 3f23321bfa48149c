"""Swiss system: in every round those meet who have the same number of points, as far as that can be.

The aims, each of them among the pairings that meet those before it best:

1. nobody meets anybody twice, and nobody has two byes;
2. the bye goes to somebody with as few points as possible;
3. with single games: nobody plays one side three times more often than the other;
4. the sum of the differences in points between opponents is the least possible;
5. with single games: everybody plays both sides equally often (the sum of the squared differences is least);
6. the bye goes to the last in seeding order;
7. within a group of equal points the upper half meets the lower one, in order (1 v n/2 + 1, ...).

1 to 3 are the basic rules of FIDE's Handbook (C.04.1), 7 is the idea of its Dutch system (C.04.3), which minimises the
differences group by group from above. Here one minimum-weight matching takes all groups together, so that no pairing
with the same bye's points and the same rules has a smaller sum. The first round follows from 6 and 7 alone.

In the first n/2 rounds a pairing without repeats exists for sure (Dirac 1952: where everybody has at least n/2 others
left to meet, there is a perfect matching). Later rounds can be without one; then as few as possible repeat, and
``repeated_meetings`` names them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from .colours import colour_costs
from .matching import best_pairing
from .points import STANDARD, PointTable
from .progressive import RoundByRound, RoundResults
from .seeds import Seeds
from .values import Plan, Round

POINT = 10**6
"""Points are compared in millionths, as whole numbers."""


@dataclass(slots=True)
class _Entrant:
    """Somebody who is to be paired, or (with no name) the bye."""

    name: str | None
    position: int
    """By points, then in seeding order; from 0."""
    points: int = 0
    met: Counter[str | None] = field(default_factory=Counter)
    imbalance: int = 0
    """Games as red less games as blue; 0 where games come in pairs."""
    group: int = 0
    """How many have as many points."""


class Swiss(RoundByRound):
    """A number of rounds, each paired by the points so far."""

    def __init__(
        self,
        players: Sequence[str],
        games_per_pairing: int,
        seeds: Seeds,
        rounds: int,
        points: PointTable = STANDARD,
    ) -> None:
        super().__init__(players, games_per_pairing, seeds, rounds)
        if not 1 <= rounds < len(players):
            raise ValueError(
                f"A Swiss tournament of {len(players)} players can have 1 to {len(players) - 1} rounds, not {rounds}: "
                "nobody has more opponents than that."
            )
        self._points = points

    def next_round(self, rounds: Sequence[Round], results: Sequence[RoundResults]) -> Round:
        """The best pairing by the aims above."""
        entrants = self._entrants(rounds, results)
        if len(entrants) % 2:
            entrants.append(_Entrant(None, len(entrants), met=Counter(n for each in rounds for n in each.byes)))
        costs = [[self._cost(*sorted((a, b), key=_position)) for b in entrants] for a in entrants]
        partners = best_pairing(costs)
        pairings = [(a, entrants[b]) for a, b in zip(entrants, partners, strict=True) if a.position < b]
        return self.round_of([(a.name, b.name) for a, b in pairings], rounds)

    def _entrants(self, rounds: Sequence[Round], results: Sequence[RoundResults]) -> list[_Entrant]:
        """All players by points."""
        imbalances = self.imbalances(rounds)
        found = {name: _Entrant(name, 0, imbalance=imbalances[name]) for name in self.players}
        for each in rounds:
            for name in each.byes:
                found[name].points += round(self._points.bye * POINT)
                found[name].met[None] += 1
            for encounter in each.encounters:
                found[encounter.first].met[encounter.second] += 1
                found[encounter.second].met[encounter.first] += 1
        for game in (game for each in results for game in each):
            for name in game.fixture.players:
                found[name].points += round(self._points.points(game, name) * POINT)
        groups = Counter(entrant.points for entrant in found.values())
        ranked = sorted(found.values(), key=lambda entrant: -entrant.points)
        lowest = ranked[-1].points
        for position, entrant in enumerate(ranked):
            entrant.position, entrant.group = position, groups[entrant.points]
            entrant.points -= lowest
        return ranked

    @staticmethod
    def _cost(better: _Entrant, other: _Entrant) -> tuple[int, ...]:
        """What it costs that two meet, by the aims above; the second may be the bye."""
        repeated = better.met[other.name] ** 2
        if other.name is None:
            return repeated, better.points, 0, 0, better.imbalance**2, other.position - better.position, 0
        apart = other.position - better.position
        from_half = apart - better.group // 2 if better.points == other.points else apart
        lopsided, squares = colour_costs(better.imbalance, other.imbalance)
        return repeated, 0, lopsided, better.points - other.points, squares, 0, from_half**2


def repeated_meetings(plan: Plan) -> tuple[tuple[int, str, str], ...]:
    """Round and names of every encounter of two who had met before, as can happen late in a long Swiss tournament."""
    met: set[frozenset[str]] = set()
    repeats: list[tuple[int, str, str]] = []
    for each in plan.rounds:
        for encounter in each.encounters:
            two = frozenset((encounter.first, encounter.second))
            if two in met:
                repeats.append((each.number, encounter.first, encounter.second))
            met.add(two)
    return tuple(repeats)


def _position(entrant: _Entrant) -> int:
    return entrant.position
