"""Do rating intervals hold the truth, and does the sequential test keep to its error rates? By bots of known strength.

    uv run python benchmarks/ratings.py
    uv run python benchmarks/ratings.py --short

Ratings: strengths are drawn for each tournament, all its games are played by chance, and it is counted how often the
95 % interval of a rating holds the true one; and the same for the difference of two bots. The sequential test: pairs of
games are played until it decides, with the bots differing by elo0, and by elo1. Exit code 1 if intervals cover less
than 93 % or more than 97 %, or if errors are more frequent than alpha and beta allow; a short run tolerates chance.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from fleet.arguments import count, reader
from fleet.verdict import ended

from triarena.tournament.bradley_terry import SCALE
from triarena.tournament.davidson import probabilities
from triarena.tournament.ratings import Ratings, rate
from triarena.tournament.sprt import Sprt, expected_score
from triarena.tournament.values import Fixture, Played

PROMISED = (0.93, 0.97)
FULL, SHORT = 2000, 100
OUTCOMES = ("red", "blue", None)


@dataclass(frozen=True, slots=True)
class Setting:
    """A kind of tournament: everybody meets everybody."""

    bots: int
    pairs: int
    """Of games, for each two bots; 0 for single games without a twin."""
    spread: float
    """The standard deviation of true ratings."""
    nu: float
    """Of draws in Davidson's model; 0.5 makes a fifth of the games of equals drawn."""
    twins: float
    """How often both games of a pair go to one bot (positive) or to one side (negative); 9: both, by turns."""
    judged: bool = True

    def __str__(self) -> str:
        games = f"{self.pairs} pair{'s' * (self.pairs > 1)}" if self.pairs else "1 game"
        twins = "twins mixed" if self.twins > 1 else f"twins {self.twins:+.1f}" if self.twins else "independent"
        return f"{self.bots:2} bots, {games:9} each, spread {self.spread:3.0f}, nu {self.nu:.1f}, {twins}"


SETTINGS = (
    Setting(2, 20, 200, 0.5, 0.0),
    Setting(2, 20, 200, 0.5, 0.5),
    Setting(2, 20, 200, 0.5, -0.5),
    Setting(2, 10, 200, 0.0, 0.0),
    Setting(2, 200, 200, 1.0, -0.5),
    Setting(8, 1, 200, 0.5, 0.0),
    Setting(8, 1, 200, 0.5, 0.5),
    Setting(8, 2, 300, 0.0, 0.0),
    Setting(8, 5, 200, 0.5, -0.5),
    Setting(8, 5, 200, 0.5, 9.0),
    Setting(20, 1, 250, 0.5, 0.5),
    Setting(20, 2, 250, 0.5, 0.0),
    Setting(2, 10, 400, 0.0, 0.5),
    Setting(2, 3, 200, 0.5, 0.0, judged=False),
    Setting(2, 5, 200, 0.5, 0.0, judged=False),
    Setting(8, 0, 200, 0.5, 0.0, judged=False),
)
"""The last ones are shown only. With ten games a bot, or fewer, intervals are wider than they need be."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A kind of sequential test."""

    elo0: float
    elo1: float
    draws: float
    """Their share."""
    twins: float
    """As in Setting, but never by turns."""

    def __str__(self) -> str:
        return f"elo0 {self.elo0:+4.0f}, elo1 {self.elo1:+4.0f}, draws {self.draws:.0%}, twins {self.twins:+.1f}"


COMPARISONS = (
    Comparison(0, 50, 0.3, 0.0),
    Comparison(0, 100, 0.3, 0.5),
    Comparison(0, 200, 0.1, 0.0),
    Comparison(-50, 50, 0.0, -0.5),
)


def twin(rng: random.Random, share: float, first: float) -> float:
    """The number that decides the second game of a pair, given that of the first."""
    return rng.random() if rng.random() >= abs(share) else first if share > 0 else 1 - first


def tournament(setting: Setting, rng: random.Random, truth: Sequence[float]) -> Iterator[Played]:
    """All games of one, played by chance."""
    for table, (i, j) in enumerate(combinations(range(setting.bots), 2), 1):
        win, loss, _ = probabilities((truth[i] - truth[j]) / SCALE, setting.nu)
        share = setting.twins if setting.twins <= 1 else (0.8 if (i + j) % 2 else -0.8)
        for pair in range(max(setting.pairs, 1)):
            first = rng.random()
            for number, chance in enumerate((first, twin(rng, share, first)), 1):
                place = 0 if chance < win else 1 if chance >= 1 - loss else 2
                names = (str(i), str(j)) if number == 1 else (str(j), str(i))
                swapped = place if number == 1 or place == 2 else 1 - place
                fixture = Fixture(1, table, 2 * pair + number, *names, 0, f"{table}.{pair}")
                yield Played(fixture, OUTCOMES[swapped], "points")  # type: ignore[arg-type]
                if not setting.pairs:
                    break


def one(setting: Setting, rng: random.Random) -> tuple[int, float, bool]:
    """How many of a tournament's intervals held the truth, their mean width, and whether that of a difference did."""
    truth = [rng.gauss(0, setting.spread) for _ in range(setting.bots)]
    mean = math.fsum(truth) / setting.bots
    players = [str(bot) for bot in range(setting.bots)]
    found: Ratings = rate(players, tournament(setting, rng, truth))
    each = [found.estimates[player] for player in players]
    held = sum(e.low <= t - mean <= e.high for e, t in zip(each, truth, strict=True))
    over = found.over("0", "1")
    return held, math.fsum(e.high - e.low for e in each) / setting.bots, over.low <= truth[0] - truth[1] <= over.high


def coverage(setting: Setting, tournaments: int, seed: int) -> bool:
    """Print how often the intervals of many tournaments hold the truth; whether it is as often as promised."""
    rng, begin = random.Random(seed), time.perf_counter()
    results = [one(setting, rng) for _ in range(tournaments)]
    ratings = sum(held for held, _, _ in results) / tournaments / setting.bots
    differences = sum(held for _, _, held in results) / tournaments
    slack = 0.0 if tournaments >= FULL else 2.5 * math.sqrt(0.05 * 0.95 / tournaments)
    good = all(PROMISED[0] - slack <= share <= PROMISED[1] + slack for share in (ratings, differences))
    word = "shown only" if not setting.judged else "good" if good else "BAD"
    width = math.fsum(width for _, width, _ in results) / tournaments
    took = (time.perf_counter() - begin) / tournaments * 1000
    print(
        f"{setting!s:56} ratings {ratings:6.1%}  differences {differences:6.1%}  mean width {width:4.0f} Elo"
        f"  {took:5.1f} ms  {word}",
        flush=True,
    )
    return good or not setting.judged


def decide(test: Sprt, comparison: Comparison, elo: float, rng: random.Random) -> tuple[str, int]:
    """Play pairs until the test decides: what, and after how many."""
    win, counts = expected_score(elo) - comparison.draws / 2, [0] * 5
    while True:
        first = rng.random()
        chances = (first, twin(rng, comparison.twins, first))
        counts[sum(2 if u < win else 1 if u < win + comparison.draws else 0 for u in chances)] += 1
        verdict = test.judge(counts)
        if verdict.decision is not None:
            return verdict.decision, verdict.pairs


def errors(comparison: Comparison, runs: int, seed: int) -> bool:
    """Print how often many tests err; whether it is as seldom as promised."""
    rng, test = random.Random(seed), Sprt(comparison.elo0, comparison.elo1)
    at0 = [decide(test, comparison, comparison.elo0, rng) for _ in range(runs)]
    at1 = [decide(test, comparison, comparison.elo1, rng) for _ in range(runs)]
    wrong0 = sum(decision == "elo1" for decision, _ in at0) / runs
    wrong1 = sum(decision == "elo0" for decision, _ in at1) / runs
    slack = 0.0 if runs >= FULL else 2.5 * math.sqrt(0.05 * 0.95 / runs)
    good = wrong0 <= test.alpha + slack and wrong1 <= test.beta + slack
    print(
        f"{comparison!s:46} at elo0: {wrong0:5.1%} wrong, {sum(n for _, n in at0) / runs:5.1f} pairs"
        f"   at elo1: {wrong1:5.1%} wrong, {sum(n for _, n in at1) / runs:5.1f} pairs   {'good' if good else 'BAD'}",
        flush=True,
    )
    return good


def main() -> int:
    """Print both tables; 1 if anything is out of bounds."""
    parser = reader(__doc__)
    parser.add_argument("--tournaments", type=count, default=FULL, help=f"of each kind ({FULL})")
    parser.add_argument("--runs", type=count, default=FULL, help=f"of each sequential test and hypothesis ({FULL})")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--short", action="store_true", help=f"only {SHORT} of everything, whatever else is given")
    options = parser.parse_args()
    tournaments, runs = (SHORT, SHORT) if options.short else (options.tournaments, options.runs)
    print(f"95 % intervals in {tournaments} tournaments of each kind: how many hold the truth")
    good = [coverage(setting, tournaments, options.seed) for setting in SETTINGS]
    print(f"sequential tests with alpha = beta = 5 %, {runs} at each hypothesis")
    good += [errors(comparison, runs, options.seed) for comparison in COMPARISONS]
    return 0 if all(good) else 1


if __name__ == "__main__":
    ended(main)
