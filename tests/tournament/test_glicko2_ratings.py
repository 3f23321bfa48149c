"""Glicko-2 by Glickman's worked example, and against an independent library."""

from __future__ import annotations

import math
import random

import pytest

from triarena.tournament.glicko2 import UNKNOWN, Rating, rate, update
from triarena.tournament.values import Fixture, Played, SideName


def game(round_: int, table: int, red: str, blue: str, winner: SideName | None, both_failed: bool = False) -> Played:
    offenders: tuple[SideName, ...] = ("red", "blue") if both_failed else ()
    return Played(Fixture(round_, table, 1, red, blue, 0, f"{round_}.{table}"), winner, "points", offenders)


def test_the_worked_example_of_glickmans_paper_comes_out() -> None:
    opponents = [(Rating(1400, 30), 1.0), (Rating(1550, 100), 0.0), (Rating(1700, 300), 0.0)]
    after = update(Rating(1500, 200, 0.06), opponents, tau=0.5)
    assert after.rating == pytest.approx(1464.06, abs=0.01)
    assert after.deviation == pytest.approx(151.52, abs=0.01)
    assert after.volatility == pytest.approx(0.05999, abs=0.00001)


def test_ratings_agree_with_an_independent_library() -> None:
    glicko2 = pytest.importorskip("glicko2", reason="the independent library glicko2 is not installed")
    rng = random.Random(1)
    for _ in range(200):
        mine = Rating(rng.uniform(1000, 2000), rng.uniform(40, 300), rng.uniform(0.04, 0.08))
        results = [
            (Rating(rng.uniform(1000, 2000), rng.uniform(40, 300)), rng.choice([0.0, 0.5, 1.0]))
            for _ in range(rng.randint(1, 12))
        ]
        theirs = glicko2.Player(mine.rating, mine.deviation, mine.volatility)
        theirs.update_player([o.rating for o, _ in results], [o.deviation for o, _ in results], [s for _, s in results])
        after = update(mine, results)
        # No closer, and no volatility: version 2.1.0 of the library squares the rating in step 5, not the deviation.
        assert after.rating == pytest.approx(theirs.rating, abs=0.2)
        assert after.deviation == pytest.approx(theirs.rd, abs=0.2)


def test_volatility_is_the_zero_of_the_papers_function() -> None:
    rng, unit = random.Random(2), 400 / math.log(10)
    for _ in range(100):
        mine = Rating(rng.uniform(1000, 2000), rng.uniform(40, 300), rng.uniform(0.04, 0.08))
        results = [(Rating(rng.uniform(1000, 2000), 80.0), rng.choice([0.0, 0.5, 1.0])) for _ in range(8)]
        g = 1 / math.sqrt(1 + 3 * (80 / unit) ** 2 / math.pi**2)
        expected = [1 / (1 + 10 ** (-g * (mine.rating - other.rating) / 400)) for other, _ in results]
        v = 1 / sum(g * g * e * (1 - e) for e in expected)
        delta = v * sum(g * (score - e) for e, (_, score) in zip(expected, results, strict=True))
        x, phi = 2 * math.log(update(mine, results).volatility), mine.deviation / unit
        grown = phi**2 + v + math.exp(x)
        left = math.exp(x) * (delta**2 - grown) / (2 * grown**2)
        assert left == pytest.approx((x - 2 * math.log(mine.volatility)) / 0.5**2, abs=1e-5)


def test_who_does_not_play_grows_less_certain_but_never_less_than_an_unknown() -> None:
    assert update(Rating(1500, 200), []).rating == 1500
    assert 200 < update(Rating(1500, 200), []).deviation < 201
    assert update(UNKNOWN, []) == UNKNOWN


def test_the_order_of_games_within_a_period_means_nothing() -> None:
    games = [
        game(1, 1, "Ann", "Bob", "red"),
        game(1, 2, "Bob", "Cyd", None),
        game(1, 3, "Cyd", "Ann", "blue"),
        game(1, 4, "Ann", "Cyd", "blue"),
    ]
    expected = rate(["Ann", "Bob", "Cyd"], [games, games[:2]])
    assert rate(["Ann", "Bob", "Cyd"], [games[::-1], games[1::-1]]) == expected
    assert expected["Ann"].rating > expected["Bob"].rating


def test_a_game_that_both_failed_says_nothing() -> None:
    assert rate(["Ann", "Bob"], [[game(1, 1, "Ann", "Bob", None, both_failed=True)]]) == rate(["Ann", "Bob"], [[]])


def test_ratings_go_on_from_where_they_were() -> None:
    first, second = [game(1, 1, "Ann", "Bob", "red")], [game(2, 1, "Bob", "Ann", None)]
    assert rate(["Ann", "Bob"], [second], rate(["Ann", "Bob"], [first])) == rate(["Ann", "Bob"], [first, second])


def test_thousands_of_wins_in_a_row_leave_finite_ratings() -> None:
    ratings = rate(["Ann", "Bob"], [[game(1, 1, "Ann", "Bob", "red")]] * 5000)
    assert 2000 < ratings["Ann"].rating < 10000
    assert ratings["Ann"].deviation > 0


def test_a_player_who_proves_far_stronger_than_believed_moves_at_once_and_grows_volatile() -> None:
    after = update(Rating(1500, 50, 0.06), [(Rating(1900, 50), 1.0)] * 20)
    assert after.rating > 1600
    assert after.volatility > 0.06
