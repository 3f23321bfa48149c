"""When to stop comparing two bots: the sequential probability ratio test on pairs of games.

Whether the first bot is elo1 better rather than elo0 is decided as soon as the log likelihood ratio of the two leaves
Wald's bounds: Abraham Wald, "Sequential tests of statistical hypotheses", Annals of Mathematical Statistics 16 (1945).
What counts is pairs (the same seed, sides swapped), by the first bot's score: 0, 1/2, 1, 3/2 or 2. Their probabilities
are unknown, so the ratio is generalised: each hypothesis gets the most likely distribution among those whose mean is
its expected score. Sources: Michel Van den Bergh, "A practical introduction to the GSPRT" and "The generalized
maximum likelihood ratio for the expectation value of a distribution", written for Stockfish's fishtest.

Elo is logistic here: elo means an expected score of 1 / (1 + 10^(-elo / 400)) for a game, draws counting one half.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from .root_finding import zero_between
from .values import Played

Counts: TypeAlias = tuple[int, int, int, int, int]
"""How many pairs brought the first bot 0, 1/2, 1, 3/2 and 2 points."""
Decision: TypeAlias = Literal["elo0", "elo1"]

SCORES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""A game's mean score in each kind of pair."""
EMPTY: Final = 1e-3
"""What stands for 0 pairs of a kind, as in fishtest: what was not seen may still be possible."""
CAUTION: Final = 2.0
"""The ratio of n pairs is taken as n / (n + CAUTION) of what it is. Ours: how much pairs vary is estimated from the
same pairs, so the ratio is too bold when there are few; with 100 pairs, errors came out right at their bounds.
"""
GUESS: Final = (0.16, 0.16, 0.36, 0.16, 0.16)
"""One pair's worth of belief in how much pairs vary, for `Sprt.outlook` before there are any: two independent games of
equal bots, a fifth of them drawn.
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the pairs so far say."""

    pairs: int
    llr: float
    """The logarithm of the likelihood ratio, elo1 over elo0."""
    lower: float
    upper: float
    """Where it ends."""
    decision: Decision | None
    """The hypothesis that is accepted, if one is."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """How many more pairs the test may take, on average: if the bots differ as it looks now, by elo0, by elo1, and if
    they differ by what is hardest to decide.
    """

    as_it_looks: float
    at_elo0: float
    at_elo1: float
    at_worst: float


@dataclass(frozen=True, slots=True)
class Sprt:
    """The test. Raises ValueError unless elo0 < elo1, and both error rates lie between 0 and 1/2."""

    elo0: float
    """The lesser difference, first bot over second."""
    elo1: float
    alpha: float = 0.05
    """At most so often elo1 is accepted although the difference is elo0 (or less)."""
    beta: float = 0.05
    """At most so often elo0 is accepted although the difference is elo1 (or more)."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.elo0) and math.isfinite(self.elo1) and self.elo0 < self.elo1):
            raise ValueError(f"elo0 must be less than elo1; they are {self.elo0:g} and {self.elo1:g}")
        for name, rate in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < rate < 0.5:
                raise ValueError(f"{name} must lie between 0 and 0.5; it is {rate:g}")

    @property
    def lower(self) -> float:
        """At or below it elo0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """At or above it elo1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def judge(self, counts: Sequence[int]) -> Verdict:
        """What so many pairs of each kind say."""
        pairs = sum(counts)
        ratio = log_likelihood_ratio(counts, expected_score(self.elo0), expected_score(self.elo1))
        ratio *= pairs / (pairs + CAUTION)
        decision: Decision | None = "elo1" if ratio >= self.upper else "elo0" if ratio <= self.lower else None
        return Verdict(pairs, ratio, self.lower, self.upper, decision)

    def outlook(self, counts: Sequence[int]) -> Outlook:
        """How long it may still take, the ratio taken for a Brownian motion between the bounds (Wald, section 3)."""
        believed = [count + guess for count, guess in zip(counts, GUESS, strict=True)]
        total = math.fsum(believed)
        mean = math.fsum(n * a for n, a in zip(believed, SCORES, strict=True)) / total
        variance = math.fsum(n * (a - mean) ** 2 for n, a in zip(believed, SCORES, strict=True)) / total
        low, high = expected_score(self.elo0), expected_score(self.elo1)
        verdict = self.judge(counts)
        if verdict.decision is not None:
            return Outlook(0.0, 0.0, 0.0, 0.0)
        step = (high - low) ** 2 / variance  # the variance that each pair adds to the ratio

        def pairs(score: float) -> float:
            drift = (high - low) * (score - (low + high) / 2) / variance
            return _expected_time(verdict.llr - self.lower, self.upper - verdict.llr, drift, step)

        worst = max(pairs(low + (high - low) * part / 20) for part in range(21))
        return Outlook(pairs(mean), pairs(low), pairs(high), worst)


def expected_score(elo: float) -> float:
    """Of a game, for one who is so many points the better."""
    return 1 / (1 + 10 ** (-elo / 400))


def pentanomial(played: Iterable[Played], first: str) -> Counts:
    """The complete pairs of a player's games, by the points they brought the player.

    Left out are games without a twin, and pairs in which a game was failed by both: they say nothing. Raises ValueError
    for a game that the player did not play, and for more than two games on a pair's seed.
    """
    outcomes: dict[str, list[float | None]] = defaultdict(list)
    for each in played:
        each.fixture.side_of(first)
        nothing = each.winner is None and each.offenders
        outcomes[each.fixture.pair].append(
            None if nothing else 0.5 if each.winner is None else float(each.winner_name == first)
        )
    counts = [0] * 5
    for pair, scores in outcomes.items():
        if len(scores) > 2:
            raise ValueError(f"pair {pair} has {len(scores)} games")
        known = [score for score in scores if score is not None]
        if len(known) == 2:
            counts[round(2 * sum(known))] += 1
    return counts[0], counts[1], counts[2], counts[3], counts[4]


def log_likelihood_ratio(counts: Sequence[int], score0: float, score1: float) -> float:
    """The generalised log likelihood ratio of two expected scores of a game (both between 0 and 1); 0 for no pairs."""
    if not sum(counts):
        return 0.0
    weights = [count or EMPTY for count in counts]
    total = math.fsum(weights)
    shares = [weight / total for weight in weights]
    tilt0, tilt1 = _tilt(shares, score0), _tilt(shares, score1)
    return math.fsum(
        weight * math.log((1 + tilt0 * (score - score0)) / (1 + tilt1 * (score - score1)))
        for weight, score in zip(weights, SCORES, strict=True)
    )


def _tilt(shares: Sequence[float], mean: float) -> float:
    """The x with which shares / (1 + x (score - mean)), the most likely distribution with that mean, has it."""

    def moment(x: float) -> float:
        return math.fsum(p * (a - mean) / (1 + x * (a - mean)) for p, a in zip(shares, SCORES, strict=True))

    # It falls from plus to minus infinity between its poles. No share is 0, so the zero keeps a distance from them.
    low, high = -1 / (1 - mean), 1 / mean
    margin = min(shares[0], shares[-1]) / 4
    return zero_between(moment, low * (1 - margin), high * (1 - margin), 1e-12)


def _expected_time(below: float, above: float, drift: float, variance: float) -> float:
    """How long a Brownian motion needs on average to fall by ``below`` or to rise by ``above``."""
    bend = 2 * drift / variance
    if abs(bend) * (below + above) < 1e-6:
        return below * above / variance
    # The probability to leave at the top, written so that nothing overflows.
    if bend > 0:
        top = math.expm1(-bend * below) / math.expm1(-bend * (below + above))
    else:
        top = math.exp(bend * above) * math.expm1(bend * below) / math.expm1(bend * (below + above))
    return (top * (below + above) - below) / drift
