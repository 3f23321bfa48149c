"""Ratings: one Bradley-Terry model with draws, fitted over all games at once.

* The model is Davidson's (`davidson`). A rating is 400 log10 of a strength: on Elo's scale, a player who is 400 ahead
  wins ten times as often as he loses. Ratings are centred: their mean is 0.
* The estimate maximises the likelihood under Jeffreys' prior: David Firth, "Bias reduction of maximum likelihood
  estimates", Biometrika 80 (1993). For two players without draws it amounts to half a win more for each, so who won
  everything has a finite rating too. A second, very weak prior (each rating normal around 0 with a standard deviation
  of PRIOR, 1,737 points) only keeps apart what no games connect.
* Two games on the same seed hang together: the board may favour one of the players, or one of the sides. The
  information of games is corrected by the correlation of twins, as generalised estimating equations do with an
  exchangeable working correlation: Kung-Yee Liang and Scott L. Zeger, "Longitudinal data analysis using generalized
  linear models", Biometrika 73 (1986). It is estimated from all pairs of games, with residuals corrected for what the
  fit took of them, and then for each two players, where they have played much; both are shrunk, since the plain
  sandwich estimate is worthless with few pairs: it is 0 where all pairs ended alike.
* Intervals follow the likelihood's shape (`ratings`). How well they cover: ``benchmarks/ratings.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from .davidson import Moments, moments
from .head_to_head import HeadToHead, head_to_heads
from .linear_algebra import Matrix, centred, conjugated, inverse, times
from .values import Played

SCALE: Final = 400 / math.log(10)
"""Points of Elo's scale in a unit of log strength."""
PRIOR: Final = 10.0
"""The standard deviation of the weak prior of log strengths; 10 are 1,737 points."""
DRAW_PRIOR: Final = 100.0
"""The same for the logarithm of nu."""
POOLED: Final = 0.5
"""How much the estimated correlation of twins is drawn towards 0, in units of variance of twins."""
OWN: Final = 5.0
"""How much that of two players is drawn towards that of all."""
TOLERANCE: Final = 1e-8
LONGEST_STEP: Final = 2.0
MOST_STEPS: Final = 200


@dataclass(frozen=True, slots=True)
class Fit:
    """The fitted model, in units of log strength."""

    players: tuple[str, ...]
    """Those who played."""
    strengths: tuple[float, ...]
    """By players; their mean is 0."""
    nu: float
    """Of draws."""
    correlation: float
    """Of two games of the same two players on the same seed, over all games; 0 if there are none."""
    covariance: Matrix
    """Of the strengths."""
    heads: tuple[HeadToHead, ...]
    weights: tuple[float, ...]
    """By heads: the games, and what the prior adds to them."""


def fit(players: Iterable[str], played: Iterable[Played]) -> Fit:
    """Fit the model over all games; players without any are left out.

    Raises KeyError if somebody played who is none of the players.
    """
    names = list(players)
    heads = head_to_heads(names, played)
    if not heads:
        return Fit((), (), 0.0, 0.0, [], (), ())
    active = sorted({place for head in heads for place in (head.first, head.second)})
    return fit_heads([names[place] for place in active], [_moved(head, active) for head in heads])


def fit_heads(players: Sequence[str], heads: Sequence[HeadToHead], *, jeffreys: bool = True) -> Fit:
    """Fit the model to results that are summed up already. Every player must be in one of them, and there must be some.

    Without Jeffreys' prior it is plain maximum likelihood (but for the very weak prior), as textbooks have it.
    """
    size, with_draws = len(players), any(head.draws for head in heads)
    theta = [0.0] * size + [-1.0] * with_draws
    for _ in range(MOST_STEPS):
        nu = math.exp(theta[size]) if with_draws else 0.0
        each = [moments(theta[head.first] - theta[head.second], nu) for head in heads]
        spread = inverse(_information(size, with_draws, heads, each, [head.games for head in heads]))
        step = times(spread, _gradient(theta, size, heads, each, spread if jeffreys else None))
        longest = max(map(abs, step))
        # The step is Newton's but for Jeffreys' prior, which pulls the harder the fewer games there are.
        prior = max(_leverage(head, moment, spread) for head, moment in zip(heads, each, strict=True))
        shorter = min(1 / (1 + prior), LONGEST_STEP / max(longest, TOLERANCE))
        theta = [value + shorter * part for value, part in zip(theta, step, strict=True)]
        if longest < TOLERANCE:
            break
    pooled, extra = _correlations(heads, each, spread)
    excess = _information(size, with_draws, heads, each, extra, prior=False)
    corrected = conjugated(spread, excess)
    covariance = centred([[spread[i][j] + corrected[i][j] for j in range(size)] for i in range(size)])
    mean = math.fsum(theta[:size]) / size
    return Fit(
        players=tuple(players),
        strengths=tuple(value - mean for value in theta[:size]),
        nu=nu,
        correlation=pooled,
        covariance=covariance,
        heads=tuple(heads),
        weights=tuple(
            head.games * (1 + _leverage(head, moment, spread)) for head, moment in zip(heads, each, strict=True)
        ),
    )


def _moved(head: HeadToHead, active: Sequence[int]) -> HeadToHead:
    return HeadToHead(
        active.index(head.first),
        active.index(head.second),
        head.wins,
        head.losses,
        head.draws,
        head.twins,
        head.products,
        head.sums,
    )


def _information(
    size: int,
    with_draws: bool,
    heads: Sequence[HeadToHead],
    each: Sequence[Moments],
    weights: Sequence[float],
    prior: bool = True,
) -> Matrix:
    """Fisher's information on the strengths and, if there are draws, log nu (last); games weigh as told."""
    total = [[0.0] * (size + with_draws) for _ in range(size + with_draws)]
    if prior:
        for place in range(size):
            total[place][place] = PRIOR**-2
        if with_draws:
            total[size][size] = DRAW_PRIOR**-2
    for head, moment, weight in zip(heads, each, weights, strict=True):
        i, j, part = head.first, head.second, weight * moment.ss
        total[i][i] += part
        total[j][j] += part
        total[i][j] -= part
        total[j][i] -= part
        if with_draws:
            part = weight * moment.s_draw
            total[i][size] += part
            total[size][i] += part
            total[j][size] -= part
            total[size][j] -= part
            total[size][size] += weight * moment.draw_draw
    return total


def _spreads(head: HeadToHead, spread: Matrix, size: int) -> tuple[float, float, float]:
    """The variance of the difference of two strengths, its covariance with log nu, and that one's variance."""
    i, j = head.first, head.second
    difference = spread[i][i] + spread[j][j] - 2 * spread[i][j]
    if len(spread) == size:
        return difference, 0.0, 0.0
    return difference, spread[i][size] - spread[j][size], spread[size][size]


def _gradient(
    theta: Sequence[float], size: int, heads: Sequence[HeadToHead], each: Sequence[Moments], spread: Matrix | None
) -> list[float]:
    """Of the log likelihood and the logarithms of both priors. Jeffreys' is half the information's log determinant.

    Without ``spread``, the information's inverse, it is left out.
    """
    result = [-value / PRIOR**2 for value in theta[:size]] + [-value / DRAW_PRIOR**2 for value in theta[size:]]
    for head, moment in zip(heads, each, strict=True):
        dd, dn, nn = (0.0, 0.0, 0.0) if spread is None else _spreads(head, spread, size)
        jeffreys = head.games / 2 * (moment.sss * dd + 2 * moment.ss_draw * dn + moment.s_draw_draw * nn)
        part = (head.wins - head.losses) / 2 - head.games * moment.s + jeffreys
        result[head.first] += part
        result[head.second] -= part
        if len(theta) > size:
            jeffreys = head.games / 2 * (moment.ss_draw * dd + 2 * moment.s_draw_draw * dn + moment.draw_draw_draw * nn)
            result[size] += head.draws - head.games * moment.draw + jeffreys
    return result


def _leverage(head: HeadToHead, moment: Moments, spread: Matrix) -> float:
    """How much of one game of theirs the fit takes for a parameter: 1 in all for each parameter."""
    i, j = head.first, head.second
    return moment.ss * (spread[i][i] + spread[j][j] - 2 * spread[i][j])


def _correlations(heads: Sequence[HeadToHead], each: Sequence[Moments], spread: Matrix) -> tuple[float, list[float]]:
    """The correlation of twins over all games, and the games by which dependence changes each two players' information.

    The latter is positive where results vary more than those of as many independent games.
    """
    sums: list[tuple[float, float]] = []
    for head, moment in zip(heads, each, strict=True):
        products = head.products - moment.s * head.sums + head.twins * moment.s**2
        taken = head.twins * moment.ss * _leverage(head, moment, spread)  # the fit has made residuals smaller
        sums.append((products + taken, head.twins * moment.ss))
    variance = math.fsum(part for _, part in sums)
    pooled = _within(math.fsum(part for part, _ in sums) / (POOLED + variance))
    own = [_within((OWN * pooled + product) / (OWN + part)) for product, part in sums]
    return pooled, [2 * head.twins * correlation for head, correlation in zip(heads, own, strict=True)]


def _within(correlation: float) -> float:
    return min(max(correlation, -1.0), 1.0)
