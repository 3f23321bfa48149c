"""The benchmark of ratings in small, seeded, so it ends the same every time. In full: benchmarks/ratings.py."""

from __future__ import annotations

import random

import pytest
from ratings import Setting, one

from triarena.tournament.bradley_terry import fit
from triarena.tournament.values import Fixture, Played


@pytest.mark.parametrize(
    ("setting", "tournaments"),
    [
        (Setting(2, 20, 200, 0.5, 0.0), 600),
        (Setting(2, 20, 200, 0.5, 0.5), 600),
        (Setting(2, 10, 200, 0.0, -0.5), 600),
        (Setting(8, 1, 200, 0.5, 0.0), 100),
        (Setting(8, 2, 300, 0.0, 0.5), 100),
    ],
    ids=str,
)
def test_intervals_hold_the_truth_about_as_often_as_they_say(setting: Setting, tournaments: int) -> None:
    rng = random.Random(1)
    held = sum(one(setting, rng)[0] for _ in range(tournaments))
    assert 0.92 <= held / tournaments / setting.bots <= 0.98


def test_where_twins_hang_together_intervals_that_ignore_it_would_miss_the_truth() -> None:
    """The same games, told as if no two were on the same seed: the fit is then too sure of itself."""
    rng, missed, tournaments = random.Random(2), 0, 300
    for _ in range(tournaments):
        played = []
        for number in range(30):
            first = second = rng.random() < 0.5
            for game, won in enumerate((first, second), 1):
                pair = f"{number}.{game}"
                played.append(Played(Fixture(1, 1, 2 * number + game, "A", "B", 0, pair), "red" if won else "blue", ""))
        alone = fit("AB", played)
        missed += abs(alone.strengths[0]) > 1.96 * alone.covariance[0][0] ** 0.5
    assert missed / tournaments > 0.1
