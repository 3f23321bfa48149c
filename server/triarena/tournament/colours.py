"""Who begins as red, when pairings are found round by round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .values import Round, SideName

MOST_IMBALANCE = 2
"""How much more often one may play a side than the other: FIDE's Handbook, C.04.1, basic rules for Swiss systems."""


def colours_so_far(players: Iterable[str], rounds: Iterable[Round]) -> dict[str, list[SideName]]:
    """The side that each player had in the first game of each encounter."""
    sides: dict[str, list[SideName]] = {name: [] for name in players}
    for each in rounds:
        for encounter in each.encounters:
            sides[encounter.first].append("red")
            sides[encounter.second].append("blue")
    return sides


def imbalance(sides: Sequence[SideName]) -> int:
    """How much more often somebody was red than blue."""
    return 2 * sides.count("red") - len(sides)


def colour_costs(ours: int, theirs: int) -> tuple[int, int]:
    """What a single game costs two players with these imbalances, with the better choice of sides.

    How many of them get beyond the most imbalance, and the sum of the squared imbalances.
    """
    high, low = max(ours, theirs) - 1, min(ours, theirs) + 1
    return (abs(high) > MOST_IMBALANCE) + (abs(low) > MOST_IMBALANCE), high**2 + low**2


def first_is_red(first: Sequence[SideName], second: Sequence[SideName], otherwise: bool) -> bool:
    """Whether the first of two players should be red, given the sides that each of them had before.

    Who was red less often is. If both were equally often, the sides of the last round in which they differed are
    swapped (as FIDE's Handbook has it in C.04.3, allocation rules); if there is none, ``otherwise`` decides.
    """
    ours, theirs = imbalance(first), imbalance(second)
    if ours != theirs:
        return ours < theirs
    for own, other in zip(reversed(first), reversed(second), strict=False):
        if own != other:
            return own == "blue"
    return otherwise


def seated(pairings: Iterable[tuple[str, str]], sides: Mapping[str, Sequence[SideName]]) -> list[tuple[str, str]]:
    """Pairings (the better player, the other) as (red, blue). With all else equal the better is red at odd tables."""
    return [
        (better, other) if first_is_red(sides[better], sides[other], table % 2 == 1) else (other, better)
        for table, (better, other) in enumerate(pairings, 1)
    ]
