"""Glicko-2: ratings that follow a player from period to period, for the ladder.

Source: Mark E. Glickman, "Example of the Glicko-2 system" (2013 and later); the steps below are the paper's. A rating
period is a round: the games of one period count together, and the order of games within it means nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .root_finding import zero_between
from .values import Played

SCALE: Final = 400 / math.log(10)
"""Points of rating in a unit of the internal scale; the paper rounds it to 173.7178."""
TAU: Final = 0.5
"""How freely volatility may change; the paper finds 0.3 to 1.2 reasonable."""
TOLERANCE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Rating:
    """What is believed of a player. The defaults are those of one of whom nothing is known."""

    rating: float = 1500.0
    """In points of Elo's scale, around 1500."""
    deviation: float = 350.0
    """The belief's standard deviation, in points: 95 % lie within about twice as much."""
    volatility: float = 0.06
    """How erratic the player is."""


UNKNOWN: Final = Rating()


def update(player: Rating, results: Sequence[tuple[Rating, float]], tau: float = TAU) -> Rating:
    """The rating after a period in which each opponent (as rated before it) yielded a score: 1, 0.5 or 0.

    Without results only the deviation grows. It never exceeds that of an unknown player.
    """
    phi, sigma = player.deviation / SCALE, player.volatility
    if not results:
        return Rating(player.rating, _capped(math.hypot(phi, sigma)), sigma)
    information = surprise = 0.0
    for opponent, score in results:  # steps 3 and 4
        weight = _g(opponent.deviation / SCALE)
        expected = _expected(player, opponent)
        information += weight * weight * expected * (1 - expected)
        surprise += weight * (score - expected)
    variance = 1 / information
    sigma = _volatility(phi, sigma, variance, variance * surprise, tau)  # step 5
    wider = math.hypot(phi, sigma)  # step 6
    narrower = 1 / math.sqrt(1 / wider**2 + information)  # step 7
    return Rating(player.rating + SCALE * narrower**2 * surprise, _capped(narrower), sigma)  # step 8


def rate(
    players: Iterable[str],
    periods: Iterable[Iterable[Played]],
    start: Mapping[str, Rating] | None = None,
    tau: float = TAU,
) -> dict[str, Rating]:
    """Everybody's rating after some rating periods, in the order of ``players``.

    All begin as unknown, unless ``start`` says else. A forfeit is a loss; a game that both failed says nothing. Raises
    KeyError if somebody played who is none of the players.
    """
    ratings = {player: (start or {}).get(player, UNKNOWN) for player in players}
    for games in periods:
        results: dict[str, list[tuple[Rating, float]]] = {player: [] for player in ratings}
        for each in sorted(games, key=lambda each: each.fixture.id):  # else the last bits hang on the order
            if each.winner is None and each.offenders:
                continue
            red, blue = each.fixture.players
            score = 0.5 if each.winner is None else float(each.winner == "red")
            results[red].append((ratings[blue], score))
            results[blue].append((ratings[red], 1 - score))
        ratings = {player: update(rating, results[player], tau) for player, rating in ratings.items()}
    return ratings


def _g(phi: float) -> float:
    """How much an opponent's result weighs, given how sure his rating is."""
    return 1 / math.sqrt(1 + 3 * phi * phi / math.pi**2)


def _expected(player: Rating, opponent: Rating) -> float:
    difference = (player.rating - opponent.rating) / SCALE
    expected = 1 / (1 + math.exp(-_g(opponent.deviation / SCALE) * difference))
    return min(max(expected, 1e-9), 1 - 1e-9)  # thousands of points apart, a game has some information all the same


def _capped(phi: float) -> float:
    return min(phi * SCALE, UNKNOWN.deviation)


def _volatility(phi: float, sigma: float, variance: float, change: float, tau: float) -> float:
    """Step 5: the zero of f, found as in the paper."""
    start = math.log(sigma * sigma)

    def f(x: float) -> float:
        grown = phi * phi + variance + math.exp(x)
        return math.exp(x) * (change * change - grown) / (2 * grown * grown) - (x - start) / (tau * tau)

    return math.exp(zero_between(f, start, _other_end(f, phi, variance, change, start, tau), TOLERANCE) / 2)


def _other_end(
    f: Callable[[float], float], phi: float, variance: float, change: float, start: float, tau: float
) -> float:
    excess = change * change - phi * phi - variance
    if excess > 0:
        return math.log(excess)
    steps = 1
    while f(start - steps * tau) < 0:
        steps += 1
    return start - steps * tau
