"""A ladder: rated neighbours meet, nobody is left out, and it has no end."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triarena.tournament.formats import make_format
from triarena.tournament.glicko2 import UNKNOWN, rate
from triarena.tournament.ladder import Ladder
from triarena.tournament.seeds import Seeds
from triarena.tournament.standings import standings
from triarena.tournament.values import Plan, Played

from .played_out import by_chance, names, play_out


def ladder(size: int, rounds: int, seed: int, games: int = 2) -> tuple[Plan, dict[str, Played]]:
    chance = random.Random(seed)
    format_ = make_format("ladder", names(size), seed=1, rounds=rounds, games_per_pairing=games)
    return play_out(format_, by_chance(chance), chance)


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 64), st.integers(1, 12), st.integers(0, 2**32), st.sampled_from([1, 2]))
def test_everybody_plays_every_round_and_nobody_the_same_twice_running(
    size: int, rounds: int, seed: int, games: int
) -> None:
    plan, _ = ladder(size, rounds, seed, games)
    assert len(plan.rounds) == rounds
    for each in plan.rounds:
        there = [*each.byes, *(name for e in each.encounters for name in (e.first, e.second))]
        assert sorted(there) == sorted(names(size))
    if size > 3:
        for one, next_one in pairwise(plan.rounds):
            met, again = ({frozenset((e.first, e.second)) for e in each.encounters} for each in (one, next_one))
            assert not met & again


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 20), st.integers(1, 30), st.integers(0, 2**32))
def test_the_bye_goes_round(half: int, rounds: int, seed: int) -> None:
    size = 2 * half + 1
    plan, _ = ladder(size, rounds, seed)
    byes = Counter(name for each in plan.rounds for name in each.byes)
    counts = [byes[name] for name in names(size)]
    assert sum(counts) == rounds
    assert max(counts) - min(counts) <= 1


def test_two_play_each_other_for_ever() -> None:
    plan, _ = ladder(2, 9, 1, games=1)
    assert [{e.first, e.second} for each in plan.rounds for e in each.encounters] == 9 * [{"bot1", "bot2"}]
    assert [e.first for each in plan.rounds for e in each.encounters][:4] in (
        ["bot1", "bot2", "bot1", "bot2"],
        ["bot1", "bot2", "bot2", "bot1"],
    )


@pytest.mark.parametrize("size", [8, 31, 64])
def test_single_games_differ_in_colours_by_two_at_most(size: int) -> None:
    plan, _ = ladder(size, 40, 1, games=1)
    red, blue = Counter(f.red for f in plan.fixtures()), Counter(f.blue for f in plan.fixtures())
    assert max(abs(red[name] - blue[name]) for name in names(size)) <= 2


def test_without_a_number_of_rounds_it_goes_on_for_as_long_as_one_likes() -> None:
    format_ = make_format("ladder", names(6), seed=1)
    chance = random.Random(1)
    plan, played = play_out(format_, by_chance(chance), chance, most_games=600)
    assert not plan.complete
    assert len(played) >= 600
    assert format_.number_of_games() == (0, None)


def test_neighbours_by_rating_meet_and_the_strongest_do_not_meet_the_weakest() -> None:
    plan, played = ladder(40, 30, 1)
    results = [[played[f.id] for f in each.fixtures()] for each in plan.rounds]
    distances = []
    for index in range(15, 30):
        ratings = rate(names(40), results[:index])
        place = {name: i for i, name in enumerate(sorted(ratings, key=lambda name: -ratings[name].rating))}
        distances += [abs(place[e.first] - place[e.second]) for e in plan.rounds[index].encounters]
    assert sum(distances) / len(distances) < 6
    assert max(distances) <= 20


def test_nobody_meets_only_two_others() -> None:
    plan, _ = ladder(20, 40, 1)
    met = Counter(
        name for two in {frozenset((e.first, e.second)) for r in plan.rounds for e in r.encounters} for name in two
    )
    assert min(met.values()) >= 6


@pytest.mark.parametrize("rounds", [0, -1])
def test_a_ladder_without_rounds_is_refused(rounds: int) -> None:
    with pytest.raises(ValueError, match="1 round or more"):
        make_format("ladder", names(4), seed=1, rounds=rounds)


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 16), st.integers(1, 8), st.integers(0, 2**32), st.integers(0, 200))
def test_a_ladder_ranks_by_the_rating_after_all_games_so_far(size: int, rounds: int, seed: int, ended: int) -> None:
    plan, whole = ladder(size, rounds, seed)
    # Rounds are over one after the other; of the last one that was begun, any games may be.
    by_rounds = [each.id for round_ in plan.rounds for each in round_.fixtures()]
    played = {id_: whole[id_] for id_ in by_rounds[: min(ended, len(by_rounds))]}
    format_ = Ladder(names(size), 2, Seeds(1), rounds)
    periods = [[played[each.id] for each in round_.fixtures() if each.id in played] for round_ in plan.rounds]
    expected = rate(names(size), [period for period in periods if period])
    assert format_.ratings(played) == expected
    rows = standings(names(size), plan, played, placing=format_.placing(played))
    ranked = [expected[row.player].rating for row in rows]
    assert all(better >= other - 1e-6 for better, other in pairwise(ranked))
    assert [row.rank for row in rows] == [1 + sum(r > own + 1e-5 for r in ranked) for own in ranked]
    assert format_.plan(played).rounds == plan.rounds[: len(format_.plan(played).rounds)]


def test_nobody_is_ahead_in_a_ladder_before_the_first_game() -> None:
    format_ = Ladder(names(4), 2, Seeds(1), 3)
    assert format_.placing({}) == (tuple(names(4)),)
    assert set(format_.ratings({}).values()) == {UNKNOWN}
