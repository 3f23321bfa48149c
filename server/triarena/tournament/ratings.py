"""How sure ratings are: 95 % intervals, and how likely one player is the stronger of two.

An interval holds the values that the data do not contradict. A value is judged by the signed root of the deviance, as
profile likelihood does, with the scale set so that near the estimate it agrees with the standard error, in which the
dependence of games on the same seed is accounted for. Plain intervals (estimate, plus or minus 1.96 standard errors)
are symmetric, and missed the truth in one of eight tournaments where one bot wins nearly everything; these reach far
up for who won everything, as they should. Sources: Georg Heinze and Michael Schemper, "A solution to the problem of
separation in logistic regression", Statistics in Medicine 21 (2002), for profiles under Jeffreys' prior; and, for
scaling the deviance, Richard E. Chandler and Steven Bate, "Inference for clustered data using the independence
loglikelihood", Biometrika 94 (2007).

Simulated (``benchmarks/ratings.py``), they hold the truth in 93 to 97 % of tournaments, and in up to 98 % where a bot
has played ten games or fewer.

The deviance is followed along the direction in which the estimates would move together. Along it only the games of the
players in question are reckoned exactly, all others by their curvature: they hardly move.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .bradley_terry import PRIOR, SCALE, Fit, fit
from .davidson import divergence, moments
from .linear_algebra import Matrix, conjugated
from .root_finding import zero_between
from .values import Played

QUANTILE: Final = 1.959963984540054
"""Of the normal distribution, for 95 %."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rating on Elo's scale with its 95 % interval. The mean of all ratings is 0."""

    elo: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The first player over the second."""

    first: str
    second: str
    elo: float
    """How much the first is rated above the second; negative if below."""
    low: float
    high: float
    """Of the 95 % interval."""
    superiority: float
    """How likely the first is the stronger one: 1/2 if nothing is known, near 1 if it is all but sure."""

    def __str__(self) -> str:
        return (
            f"{self.first} over {self.second}: {self.elo:+.0f} Elo ({self.low:+.0f} to {self.high:+.0f}), "
            f"likelihood of superiority {percent(self.superiority)}"
        )


def percent(probability: float) -> str:
    """A probability for people; never 0 % or 100 %, since nothing is certain."""
    if probability > 0.999:
        return "> 99.9 %"
    return "< 0.1 %" if probability < 0.001 else f"{100 * probability:.1f} %"


@dataclass(frozen=True, slots=True)
class Ratings:
    """The ratings of all who have played, best first, and how any two of them compare."""

    estimates: Mapping[str, Estimate]
    correlation: float
    """Of two games on the same seed (`bradley_terry`)."""
    nu: float
    """Davidson's parameter of draws."""
    shape: _Shape

    def over(self, first: str, second: str) -> Comparison:
        """The first over the second. Raises ValueError for one who has no rating, or for the same player twice."""
        value, line = self._difference(first, second)
        low, high = line.interval()
        likely = _superiority(value, line)
        return Comparison(first, second, SCALE * value, SCALE * (value + low), SCALE * (value + high), likely)

    def superiority(self, first: str, second: str) -> float:
        """How likely the first is stronger than the second, as in `over`, whose interval takes far longer to find."""
        return _superiority(*self._difference(first, second))

    def _difference(self, first: str, second: str) -> tuple[float, _Line]:
        for player in (first, second):
            if player not in self.estimates:
                raise ValueError(f"{player!r} has no rating: no game of that player counts yet")
        if first == second:
            raise ValueError(f"{first!r} can only be compared with another player")
        a, b = (self.shape.fit.players.index(player) for player in (first, second))
        return self.shape.fit.strengths[a] - self.shape.fit.strengths[b], self.shape.line({a: 1.0, b: -1.0})


def rate(players: Iterable[str], played: Iterable[Played]) -> Ratings:
    """Rate all who have played; others are left out. Raises KeyError if somebody played who is none of the players."""
    return ratings(fit(players, played))


def ratings(fitted: Fit) -> Ratings:
    """The ratings of a fitted model."""
    shape = _Shape.of(fitted)
    estimates: list[tuple[str, Estimate]] = []
    for place, (player, strength) in enumerate(zip(fitted.players, fitted.strengths, strict=True)):
        low, high = shape.line({place: 1.0}).interval()
        estimate = Estimate(SCALE * strength, SCALE * (strength + low), SCALE * (strength + high))
        estimates.append((player, estimate))
    estimates.sort(key=lambda each: (-each[1].elo, each[0]))
    return Ratings(dict(estimates), fitted.correlation, fitted.nu, shape)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line through the estimates along which some quantity moves by one for a unit of the line."""

    variance: float
    """Of the quantity."""
    curvature: float
    """Of the deviance's half at the estimate."""
    rest: float
    """The part of the curvature that is taken as it is."""
    games: tuple[tuple[float, float, float], ...]
    """What is reckoned exactly: weight, difference of strengths, and how much it moves along."""
    nu: float

    def root(self, way: float) -> float:
        """The root of the deviance some way along the line, in standard errors; never negative."""
        half = self.rest * way * way / 2
        for weight, difference, slope in self.games:
            half += weight * divergence(difference, self.nu, slope * way)
        return math.sqrt(max(2 * half, 0.0) / (self.curvature * self.variance))

    def interval(self) -> tuple[float, float]:
        """How far down and up the line the 95 % interval reaches."""
        return self._reach(-1.0), self._reach(1.0)

    def _reach(self, sign: float) -> float:
        far = sign * QUANTILE * math.sqrt(self.variance)
        while self.root(far) < QUANTILE:
            far *= 2
        return zero_between(lambda way: self.root(way) - QUANTILE, 0.0, far, tolerance=1e-4)


@dataclass(frozen=True, slots=True)
class _Shape:
    """The likelihood around the estimates."""

    fit: Fit
    curvature: Matrix
    """Of the log likelihood, negated, in coordinates in which the covariance's columns are directions."""
    by_player: tuple[tuple[int, ...], ...]
    """The places among the fit's heads."""
    weights: tuple[float, ...]
    """By heads: the curvature of each."""

    @classmethod
    def of(cls, fitted: Fit) -> _Shape:
        size = len(fitted.players)
        precision = [[PRIOR**-2 if i == j else 0.0 for j in range(size)] for i in range(size)]
        by_player: list[list[int]] = [[] for _ in range(size)]
        weights: list[float] = []
        for place, head in enumerate(fitted.heads):
            i, j = head.first, head.second
            weight = fitted.weights[place] * moments(fitted.strengths[i] - fitted.strengths[j], fitted.nu).ss
            weights.append(weight)
            precision[i][i] += weight
            precision[j][j] += weight
            precision[i][j] -= weight
            precision[j][i] -= weight
            by_player[i].append(place)
            by_player[j].append(place)
        curvature = conjugated(fitted.covariance, precision)
        return cls(fitted, curvature, tuple(map(tuple, by_player)), tuple(weights))

    def line(self, quantity: Mapping[int, float]) -> _Line:
        """The line of a quantity that is a sum of strengths with the given coefficients."""
        variance = _form(self.fit.covariance, quantity)
        curvature = _form(self.curvature, quantity) / variance**2
        games: list[tuple[float, float, float]] = []
        rest = curvature
        for place in {place for player in quantity for place in self.by_player[player]}:
            head = self.fit.heads[place]
            one, other = self.fit.covariance[head.first], self.fit.covariance[head.second]
            slope = sum((one[player] - other[player]) * part for player, part in quantity.items()) / variance
            difference = self.fit.strengths[head.first] - self.fit.strengths[head.second]
            games.append((self.fit.weights[place], difference, slope))
            rest -= self.weights[place] * slope * slope
        return _Line(variance, curvature, max(rest, 0.0), tuple(sorted(games)), self.fit.nu)


def _superiority(value: float, line: _Line) -> float:
    """How likely a quantity is above 0, given its estimate and its line."""
    return math.erfc(math.copysign(line.root(-value), -value) / math.sqrt(2)) / 2


def _form(matrix: Sequence[Sequence[float]], vector: Mapping[int, float]) -> float:
    return sum(a * b * matrix[i][j] for i, a in vector.items() for j, b in vector.items())
