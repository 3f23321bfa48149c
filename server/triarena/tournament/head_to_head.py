"""The results of each two players, as far as estimation needs them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .values import Played


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """All decided or drawn games of two players, as the first of them sees it.

    A game's outcome s is 1/2, -1/2 or 0 (`davidson`). Two games on the same seed are twins; their outcomes may hang
    together, and so their products are summed.
    """

    first: int
    """The player's place among the players."""
    second: int
    wins: int = 0
    losses: int = 0
    draws: int = 0
    twins: int = 0
    """How many two games there are on the same seed."""
    products: float = 0.0
    """The sum of the products of the outcomes of twins."""
    sums: float = 0.0
    """The sum of the sums of the outcomes of twins."""

    @property
    def games(self) -> int:
        """How many."""
        return self.wins + self.losses + self.draws


def head_to_heads(players: Iterable[str], played: Iterable[Played]) -> tuple[HeadToHead, ...]:
    """One value for each two who met, in the order of the players.

    A forfeit is a loss: to fail is a weakness too. A game that both failed says nothing of who is stronger, and is left
    out. Raises KeyError if somebody played who is none of the players.
    """
    place = {player: index for index, player in enumerate(players)}
    met: dict[tuple[int, int], list[Played]] = defaultdict(list)
    for each in played:
        if each.winner is None and each.offenders:
            continue
        red, blue = place[each.fixture.red], place[each.fixture.blue]
        met[min(red, blue), max(red, blue)].append(each)
    names = tuple(place)
    return tuple(_summed(*both, _outcomes(names[both[0]], met[both])) for both in sorted(met))


def _outcomes(player: str, games: Iterable[Played]) -> dict[str, list[float]]:
    """The outcomes of a player's games, those on the same seed together."""
    by_pair: dict[str, list[float]] = defaultdict(list)
    for each in games:
        of_red = 0.0 if each.winner is None else 0.5 if each.winner == "red" else -0.5
        by_pair[each.fixture.pair].append(of_red if each.fixture.red == player else -of_red)
    return by_pair


def _summed(first: int, second: int, by_pair: Mapping[str, list[float]]) -> HeadToHead:
    every = [outcome for together in by_pair.values() for outcome in together]
    twins, products, sums = 0, 0.0, 0.0
    for together in by_pair.values():  # all sums are of quarters, so their order doesn't matter
        size, total = len(together), sum(together)
        twins += size * (size - 1) // 2
        products += (total * total - sum(outcome * outcome for outcome in together)) / 2
        sums += (size - 1) * total
    return HeadToHead(first, second, every.count(0.5), every.count(-0.5), every.count(0.0), twins, products, sums)
