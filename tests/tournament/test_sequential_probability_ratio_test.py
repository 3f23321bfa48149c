"""The SPRT by published matches, by its defining property, and by simulation."""

from __future__ import annotations

import math
import random

import pytest

from triarena.tournament.sprt import (
    CAUTION,
    SCORES,
    Sprt,
    expected_score,
    log_likelihood_ratio,
    pentanomial,
)
from triarena.tournament.values import Fixture, Played, SideName

PUBLISHED = [
    # Logs of matches between chess programs, as fastchess printed them: pairs by their score, bounds in normalised Elo,
    # and the log likelihood ratio.
    ((578, 1352, 1985, 1283, 564), 0, 5, -2.96),
    ((598, 1553, 2651, 1569, 648), 0, 5, 0.74),
]


@pytest.mark.parametrize(("counts", "elo0", "elo1", "published"), PUBLISHED)
def test_published_matches_have_the_ratio_that_was_published(
    counts: tuple[int, ...], elo0: float, elo1: float, published: float
) -> None:
    pairs = sum(counts)
    mean = sum(n * a for n, a in zip(counts, SCORES, strict=True)) / pairs
    deviation = math.sqrt(2 * sum(n * (a - mean) ** 2 for n, a in zip(counts, SCORES, strict=True)) / pairs)
    # A normalised Elo is a score in units of a game's deviation: Van den Bergh, "Comments on normalized Elo".
    scores = [0.5 + elo * deviation * math.log(10) / 800 for elo in (elo0, elo1)]
    assert log_likelihood_ratio(counts, *scores) == pytest.approx(published, abs=0.006)


def test_the_ratio_is_that_of_the_most_likely_distributions_with_each_mean() -> None:
    rng, counts, means = random.Random(1), (5, 9, 20, 14, 7), (0.5, 0.6)
    found = log_likelihood_ratio(counts, *means)

    def likelihood(chances: list[float]) -> float:
        return sum(n * math.log(p) for n, p in zip(counts, chances, strict=True))

    def most_likely(mean: float) -> float:
        """By a random search that keeps the sum and the mean."""
        spread = 0.04
        best = [(1 - spread) * (1 - mean) + spread / 5, *[spread / 5] * 3, (1 - spread) * mean + spread / 5]
        shift = mean - sum(p * a for p, a in zip(best, SCORES, strict=True))
        best[4], best[0] = best[4] + shift, best[0] - shift
        for step in range(30000):
            i, j, k = rng.sample(range(5), 3)
            size = rng.gauss(0, 0.1 * 0.9998**step + 1e-5)
            trial = best[:]  # a change of three that keeps the sum and the mean
            trial[i] += size * (SCORES[k] - SCORES[j])
            trial[j] += size * (SCORES[i] - SCORES[k])
            trial[k] += size * (SCORES[j] - SCORES[i])
            if min(trial) > 0 and likelihood(trial) > likelihood(best):
                best = trial
        assert sum(best) == pytest.approx(1)
        assert sum(p * a for p, a in zip(best, SCORES, strict=True)) == pytest.approx(mean)
        return likelihood(best)

    assert found == pytest.approx(most_likely(means[1]) - most_likely(means[0]), abs=0.01)


def test_the_bounds_are_walds() -> None:
    test = Sprt(0, 5, alpha=0.05, beta=0.1)
    assert test.upper == pytest.approx(math.log(0.9 / 0.05))
    assert test.lower == pytest.approx(math.log(0.1 / 0.95))


def test_without_pairs_nothing_is_known() -> None:
    verdict = Sprt(0, 50).judge((0, 0, 0, 0, 0))
    assert (verdict.pairs, verdict.llr, verdict.decision) == (0, 0.0, None)


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize("pairs", [1, 3, 100, 10**6])
def test_empty_categories_are_no_trouble(kind: int, pairs: int) -> None:
    counts = [0] * 5
    counts[kind] = pairs
    verdict = Sprt(-20, 20).judge(counts)
    assert math.isfinite(verdict.llr)
    assert verdict.llr == pytest.approx(-Sprt(-20, 20).judge(counts[::-1]).llr, abs=1e-6)
    if pairs == 10**6 and kind != 2:
        assert verdict.decision == ("elo0" if kind < 2 else "elo1")
        assert all(value == 0 for value in (Sprt(-20, 20).outlook(counts).at_worst,))


def test_one_pair_never_decides() -> None:
    for kind in range(5):
        for elo1 in (10, 100, 400):
            assert Sprt(0, elo1).judge([int(kind == k) for k in range(5)]).decision is None


def game(pair: str, number: int, red: str, winner: SideName | None, offenders: tuple[SideName, ...] = ()) -> Played:
    blue = "Bob" if red == "Ann" else "Ann"
    return Played(Fixture(1, 1, number, red, blue, 0, pair), winner, "points", offenders)


def test_pairs_are_counted_by_the_first_bots_points_and_incomplete_ones_are_not() -> None:
    games = [
        *(game("a", 1, "Ann", "red"), game("a", 2, "Bob", "blue")),
        *(game("b", 3, "Ann", "red"), game("b", 4, "Bob", "red")),
        *(game("c", 5, "Ann", None), game("c", 6, "Bob", "red")),
        *(game("d", 7, "Ann", "red"), game("d", 8, "Bob", None, ("red", "blue"))),
        game("e", 9, "Ann", "red"),
    ]
    assert pentanomial(games, "Ann") == (0, 1, 1, 0, 1)
    assert pentanomial(games, "Bob") == (1, 0, 1, 1, 0)
    with pytest.raises(ValueError, match="does not play"):
        pentanomial(games, "Cyd")
    with pytest.raises(ValueError, match="pair a has 3 games"):
        pentanomial([*games, game("a", 10, "Ann", None)], "Ann")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [((5, 5), "elo0 must be less than elo1"), ((0, 5, 0.0), "alpha must"), ((0, 5, 0.05, 0.7), "beta must")],
)
def test_settings_that_make_no_sense_are_refused(values: tuple[float, ...], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Sprt(*values)


def play(rng: random.Random, test: Sprt, elo: float, draws: float) -> tuple[str, int]:
    """Independent games until it is decided: how, and after how many pairs."""
    win = expected_score(elo) - draws / 2
    counts = [0] * 5
    while True:
        points = sum(2 if u < win else 1 if u < win + draws else 0 for u in (rng.random(), rng.random()))
        counts[points] += 1
        verdict = test.judge(counts)
        if verdict.decision is not None:
            return verdict.decision, verdict.pairs


def test_errors_stay_within_their_bounds_and_the_outlook_is_about_right() -> None:
    rng, test, runs = random.Random(2), Sprt(0, 100), 200
    at_elo0 = [play(rng, test, 0, 0.3) for _ in range(runs)]
    at_elo1 = [play(rng, test, 100, 0.3) for _ in range(runs)]
    bound = 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)  # benchmarks/ratings.py has the long run
    assert sum(decision == "elo1" for decision, _ in at_elo0) / runs < bound
    assert sum(decision == "elo0" for decision, _ in at_elo1) / runs < bound
    outlook = test.outlook((0, 0, 0, 0, 0))
    for pairs, expected in ((at_elo0, outlook.at_elo0), (at_elo1, outlook.at_elo1)):
        assert 0.7 < expected / (sum(n for _, n in pairs) / runs) < 1.4
    assert outlook.at_worst > outlook.at_elo0


def test_the_outlook_shortens_as_the_ratio_nears_a_bound() -> None:
    test = Sprt(0, 30)
    near, far = test.outlook((6, 10, 22, 16, 10)), test.outlook((4, 6, 12, 6, 4))
    assert near.as_it_looks < near.at_worst < far.at_worst
    assert near.at_elo1 < far.at_elo1


def test_caution_fades_with_the_number_of_pairs() -> None:
    counts = (200, 250, 400, 260, 230)
    scores = expected_score(0), expected_score(20)
    share = Sprt(0, 20).judge(counts).llr / log_likelihood_ratio(counts, *scores)
    assert share == pytest.approx(1340 / (1340 + CAUTION))
