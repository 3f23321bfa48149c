"""Ratings by a published example, against an independent library, and by what must hold of any fit."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from itertools import combinations

import pytest

from triarena.tournament.bradley_terry import DRAW_PRIOR, PRIOR, SCALE, Fit, fit_heads
from triarena.tournament.davidson import divergence, moments, probabilities
from triarena.tournament.head_to_head import HeadToHead, head_to_heads
from triarena.tournament.linear_algebra import inverse
from triarena.tournament.ratings import percent, rate, ratings
from triarena.tournament.values import Fixture, Played, SideName

TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
# Agresti, Categorical Data Analysis (2nd edition), table 10.10: the American League's Eastern Division in 1987. Wins of
# the home team (row) and of the visitors (column).
BASEBALL = """
  -   4-3  4-2  4-3  6-1  4-2  6-0
 3-3   -   4-2  4-3  6-0  6-1  4-3
 2-5  4-3   -   2-4  4-3  4-2  6-0
 3-3  5-1  2-5   -   4-3  4-2  6-1
 5-1  2-5  3-3  4-2   -   5-2  6-0
 2-5  3-3  3-4  4-3  4-2   -   2-4
 2-5  1-5  1-6  2-4  1-6  3-4   -
"""


def baseball() -> list[HeadToHead]:
    cells = [line.split() for line in BASEBALL.strip().splitlines()]
    heads = []
    for i, j in combinations(range(7), 2):
        (home, away), (other_home, other_away) = (map(int, cells[a][b].split("-")) for a, b in ((i, j), (j, i)))
        heads.append(HeadToHead(i, j, home + other_away, away + other_home))
    return heads


def head(first: int, second: int, pairs: Sequence[tuple[float, float]]) -> HeadToHead:
    """From the first's outcomes (1/2, -1/2, 0) in pairs of games."""
    every = [outcome for pair in pairs for outcome in pair]
    return HeadToHead(
        first,
        second,
        every.count(0.5),
        every.count(-0.5),
        every.count(0.0),
        len(pairs),
        sum(a * b for a, b in pairs),
        sum(every),
    )


def random_heads(rng: random.Random, size: int, pairs: int, draws: bool = True) -> list[HeadToHead]:
    outcomes = [0.5, 0.5, -0.5, *([0.0] if draws else [])]
    return [
        head(i, j, [(rng.choice(outcomes), rng.choice(outcomes)) for _ in range(pairs)])
        for i, j in combinations(range(size), 2)
    ]


def test_the_baseball_season_of_1987_comes_out_as_in_agrestis_table_10_11() -> None:
    heads = baseball()
    assert all(each.games == 13 for each in heads)
    fitted = fit_heads(TEAMS, heads, jeffreys=False)
    relative = dict(zip(TEAMS, (value - fitted.strengths[-1] for value in fitted.strengths), strict=True))
    published = {"Milwaukee": 1.58, "Detroit": 1.44, "Toronto": 1.29, "New York": 1.25, "Boston": 1.11}
    published |= {"Cleveland": 0.68, "Baltimore": 0.0}
    assert relative == pytest.approx(published, abs=0.01)
    for place in range(6):  # "about 0.3" each, against Baltimore
        variance = fitted.covariance[place][place] + fitted.covariance[6][6] - 2 * fitted.covariance[place][6]
        assert round(math.sqrt(variance), 1) == 0.3


@pytest.mark.slow
def test_strengths_agree_with_an_independent_library() -> None:
    choix = pytest.importorskip("choix", reason="the independent library choix is not installed")
    rng = random.Random(1)
    for _ in range(10):
        heads = random_heads(rng, 6, 8, draws=False)
        results = [(each.first, each.second) for each in heads for _ in range(each.wins)]
        results += [(each.second, each.first) for each in heads for _ in range(each.losses)]
        theirs = choix.opt_pairwise(6, results, alpha=1 / (2 * PRIOR**2))
        assert fit_heads("ABCDEF", heads, jeffreys=False).strengths == pytest.approx(list(theirs), abs=1e-4)


def penalised_likelihood(strengths: Sequence[float], log_nu: float, heads: Sequence[HeadToHead]) -> float:
    """The log posterior under both priors, written down anew."""
    size = len(strengths)
    value = -sum(s * s for s in strengths) / 2 / PRIOR**2 - log_nu**2 / 2 / DRAW_PRIOR**2
    information = [[0.0] * (size + 1) for _ in range(size + 1)]
    for place in range(size):
        information[place][place] = PRIOR**-2
    information[size][size] = DRAW_PRIOR**-2
    for each in heads:
        chances = probabilities(strengths[each.first] - strengths[each.second], math.exp(log_nu))
        for chance, count in zip(chances, (each.wins, each.losses, each.draws), strict=True):
            value += count * math.log(chance)
        rows = [[0.0] * (size + 1) for _ in range(3)]
        for row, s, draw in zip(rows, (0.5, -0.5, 0.0), (0, 0, 1), strict=True):
            row[each.first], row[each.second], row[size] = s, -s, draw
        mean = [sum(p * row[k] for p, row in zip(chances, rows, strict=True)) for k in range(size + 1)]
        for i in range(size + 1):
            for j in range(size + 1):
                product = sum(p * row[i] * row[j] for p, row in zip(chances, rows, strict=True))
                information[i][j] += each.games * (product - mean[i] * mean[j])
    return value + log_determinant(information) / 2


def log_determinant(matrix: list[list[float]]) -> float:
    rows, total = [row[:] for row in matrix], 0.0
    for i, row in enumerate(rows):
        total += math.log(row[i])
        for other in rows[i + 1 :]:
            factor = other[i] / row[i]
            for k in range(i, len(row)):
                other[k] -= factor * row[k]
    return total


def test_the_fit_is_the_maximum_of_the_likelihood_under_jeffreys_prior() -> None:
    rng = random.Random(2)
    for _ in range(5):
        heads = random_heads(rng, 4, 2)
        fitted = fit_heads("ABCD", heads)
        theta = [*fitted.strengths, math.log(fitted.nu)]
        for place in range(5):
            up, down = list(theta), list(theta)
            up[place] += 1e-4
            down[place] -= 1e-4
            slope = penalised_likelihood(up[:4], up[4], heads) - penalised_likelihood(down[:4], down[4], heads)
            assert slope / 2e-4 == pytest.approx(0, abs=1e-5)


def test_who_won_all_of_n_games_is_rated_as_if_half_a_game_had_gone_either_way() -> None:
    for games in (1, 5, 20, 100):
        fitted = fit_heads("AB", [HeadToHead(0, 1, games, 0)])
        assert fitted.strengths[0] - fitted.strengths[1] == pytest.approx(math.log(2 * games + 1), rel=0.03)


def test_who_won_everything_has_a_finite_rating_whose_interval_reaches_further_up_than_down() -> None:
    over = ratings(fit_heads("AB", [head(0, 1, [(0.5, 0.5)] * 10)])).over("A", "B")
    assert 500 < over.elo < 700
    assert 0 < over.elo - over.low < 500 < over.high - over.elo < 2000
    assert 0.9999 < over.superiority < 1


def test_comparisons_are_said_as_the_first_over_the_second_and_mirror_each_other() -> None:
    rated = ratings(fit_heads("AB", [head(0, 1, [(0.5, 0.5)] * 6 + [(0.5, -0.5), (0.0, 0.5)])]))
    one, other = rated.over("A", "B"), rated.over("B", "A")
    assert (one.elo, one.low, one.high) == pytest.approx((-other.elo, -other.high, -other.low), abs=0.1)
    assert one.superiority == pytest.approx(1 - other.superiority)
    assert rated.superiority("A", "B") == one.superiority > 0.99
    assert str(one).startswith("A over B: +")
    assert list(rated.estimates) == ["A", "B"]
    assert rated.estimates["A"].elo == pytest.approx(one.elo / 2)


def test_equal_results_leave_it_open_who_is_stronger() -> None:
    over = ratings(fit_heads("AB", [head(0, 1, [(0.5, -0.5), (0.0, 0.0)] * 10)])).over("A", "B")
    assert over.elo == pytest.approx(0, abs=1e-6)
    assert over.superiority == pytest.approx(0.5)


def width(heads: Sequence[HeadToHead]) -> float:
    over = ratings(fit_heads("AB", heads)).over("A", "B")
    return over.high - over.low


def test_twins_that_always_end_alike_count_nearly_as_one_game_and_such_that_cancel_out_make_surer() -> None:
    independent = width([head(0, 1, [(0.5, 0.5), (-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5)] * 10)])
    alike = width([head(0, 1, [(0.5, 0.5), (-0.5, -0.5)] * 20)])
    opposite = width([head(0, 1, [(0.5, -0.5), (-0.5, 0.5)] * 20)])
    assert alike / independent == pytest.approx(math.sqrt(2), abs=0.1)
    assert opposite < independent / 2


def test_correlation_is_found_over_all_pairs_of_games() -> None:
    rng = random.Random(3)
    heads = []
    for i, j in combinations(range(6), 2):
        first = [rng.choice([0.5, -0.5]) for _ in range(20)]
        heads.append(head(i, j, [(a, a if rng.random() < 0.5 else rng.choice([0.5, -0.5])) for a in first]))
    assert fit_heads("ABCDEF", heads).correlation == pytest.approx(0.5, abs=0.1)


def game(pair: str, red: str, blue: str, winner: SideName | None, offenders: tuple[SideName, ...] = ()) -> Played:
    number = len(pair) + ord(red[0])
    return Played(Fixture(1, 1, number, red, blue, 0, pair), winner, "points", offenders)


def test_forfeits_count_as_losses_and_games_that_both_failed_do_not_count() -> None:
    played = [
        game("one", "Ann", "Bob", "red"),
        game("one", "Bob", "Ann", "red", ("blue",)),
        game("two", "Ann", "Bob", None, ("red", "blue")),
        game("two", "Bob", "Ann", None),
    ]
    (only,) = head_to_heads(["Ann", "Bob"], played)
    assert only == HeadToHead(0, 1, wins=1, losses=1, draws=1, twins=1, products=-0.25, sums=0.0)


def test_who_has_not_played_has_no_rating() -> None:
    rated = rate(["Ann", "Idle", "Bob"], [game("one", "Bob", "Ann", "red")])
    assert list(rated.estimates) == ["Bob", "Ann"]
    with pytest.raises(ValueError, match="'Idle' has no rating"):
        rated.over("Ann", "Idle")
    with pytest.raises(ValueError, match="another player"):
        rated.over("Ann", "Ann")
    assert rate(["Ann"], []).estimates == {}


def test_ratings_do_not_hang_on_the_order_of_the_games() -> None:
    rng, players = random.Random(5), [f"bot {number}" for number in range(5)]
    played = []
    for number in range(60):
        red, blue = rng.sample(players, 2)
        played.append(game(f"{min(red, blue)}-{max(red, blue)}-{number % 3}", red, blue, rng.choice(["red", None])))
    expected = rate(players, played).estimates
    for _ in range(5):
        rng.shuffle(played)
        assert rate(players, played).estimates == expected


def test_groups_that_never_met_are_rated_with_intervals_that_say_so() -> None:
    rated = ratings(fit_heads("ABCD", [head(0, 1, [(0.5, 0.5)] * 3), head(2, 3, [(0.5, -0.5)] * 3)]))
    across, within = rated.over("A", "C"), rated.over("A", "B")
    assert across.low < -1500 < 1500 < across.high
    assert within.low > 0
    assert 0.4 < across.superiority < 0.7 < 0.98 < within.superiority


def test_all_draws_leave_finite_ratings() -> None:
    over = ratings(fit_heads("AB", [head(0, 1, [(0.0, 0.0)] * 20)])).over("A", "B")
    assert over.elo == pytest.approx(0, abs=1e-6)
    assert math.isfinite(over.low)


def test_nobody_is_ever_said_to_be_certainly_the_stronger() -> None:
    assert [percent(p) for p in (0.0, 0.5, 0.9991, 1.0)] == ["< 0.1 %", "50.0 %", "> 99.9 %", "> 99.9 %"]


def test_a_games_moments_are_those_of_its_three_outcomes() -> None:
    rng = random.Random(6)
    for _ in range(50):
        d, nu = rng.uniform(-5, 5), rng.choice([0.0, rng.uniform(0.1, 3)])
        chances = probabilities(d, nu)
        assert sum(chances) == pytest.approx(1)
        assert chances[0] / chances[1] == pytest.approx(math.exp(d))
        assert chances[2] == pytest.approx(nu * math.sqrt(chances[0] * chances[1]))
        outcomes = list(zip(chances, (0.5, -0.5, 0.0), (0.0, 0.0, 1.0), strict=True))
        s, draw = sum(p * a for p, a, _ in outcomes), sum(p * b for p, _, b in outcomes)

        def central(i: int, j: int, s: float = s, draw: float = draw) -> float:
            return sum(p * (a - s) ** i * (b - draw) ** j for p, a, b in outcomes)  # noqa: B023

        expected = [s, draw, *(central(i, j) for i, j in ((2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3)))]
        assert list(moments(d, nu)) == pytest.approx(expected, abs=1e-12)
        shift = rng.uniform(-3, 3)
        shifted = probabilities(d + shift, nu)
        by_hand = sum(p * math.log(p / q) for p, q in zip(chances, shifted, strict=True) if p)
        assert divergence(d, nu, shift) == pytest.approx(by_hand, abs=1e-12)


def test_an_inverse_is_one_and_what_has_none_is_told() -> None:
    rng = random.Random(7)
    root = [[rng.gauss(0, 1) for _ in range(8)] for _ in range(8)]
    matrix = [[sum(a * b for a, b in zip(x, y, strict=True)) + (x is y) for y in root] for x in root]
    product = [[sum(a * b for a, b in zip(row, column, strict=True)) for column in inverse(matrix)] for row in matrix]
    for i, row in enumerate(product):
        assert row == pytest.approx([float(i == j) for j in range(8)], abs=1e-9)
    with pytest.raises(ValueError, match="not positive definite"):
        inverse([[1.0, 2.0], [2.0, 1.0]])


def test_sixty_four_players_are_rated_within_seconds() -> None:
    heads = random_heads(random.Random(8), 64, 1)
    begin = time.process_time()
    fitted: Fit = fit_heads([f"bot {number}" for number in range(64)], heads)
    rated = ratings(fitted)
    assert time.process_time() - begin < 5  # about 0.5 s, on a machine that does nothing else
    assert len(rated.estimates) == 64
    assert sum(each.elo for each in rated.estimates.values()) == pytest.approx(0, abs=1e-6)
    assert all(each.low < each.elo < each.high for each in rated.estimates.values())
    assert max(each.elo for each in rated.estimates.values()) < 10 * SCALE
