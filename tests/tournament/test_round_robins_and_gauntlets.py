"""Schedules that are known from the start: who meets whom, how often, as what, on which boards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triarena.tournament.formats import make_format
from triarena.tournament.round_robin import berger_rounds
from triarena.tournament.values import Fixture, Plan

sizes = st.integers(2, 64)
games = st.sampled_from([1, 2, 4, 6])
boards = st.one_of(st.builds(list[int]), st.lists(st.integers(0, 2**53 - 1), min_size=12, max_size=40, unique=True))
seeds = st.integers(0, 2**53 - 1)


def names(number: int) -> list[str]:
    return [f"bot{i}" for i in range(1, number + 1)]


def meetings(fixtures: Sequence[Fixture]) -> Counter[frozenset[str]]:
    return Counter(frozenset(each.players) for each in fixtures)


def assert_rounds_hold_nobody_twice(plan: Plan) -> None:
    for each in plan.rounds:
        busy = [name for encounter in each.encounters for name in (encounter.first, encounter.second)]
        assert len(set(busy)) == len(busy)


def assert_colours_differ_by_at_most(most: int, players: Sequence[str], fixtures: Sequence[Fixture]) -> None:
    red, blue = Counter(f.red for f in fixtures), Counter(f.blue for f in fixtures)
    assert max(abs(red[name] - blue[name]) for name in players) <= most


def assert_each_seed_once_per_side(fixtures: Sequence[Fixture]) -> None:
    by_colour = Counter((f.red, f.blue, f.seed) for f in fixtures)
    assert set(by_colour.values()) <= {1}
    pairs: dict[str, list[Fixture]] = {}
    for fixture in fixtures:
        pairs.setdefault(fixture.pair, []).append(fixture)
    for one, *rest in pairs.values():
        assert len(rest) == 1
        assert (one.red, one.blue, one.seed) == (rest[0].blue, rest[0].red, rest[0].seed)


def assert_ids_are_names(plan: Plan) -> None:
    fixtures = list(plan.fixtures())
    assert len({f.id for f in fixtures}) == len(fixtures)
    for each in plan.rounds:
        assert [e.table for e in each.encounters] == list(range(1, len(each.encounters) + 1))
        for encounter in each.encounters:
            assert [f.number for f in encounter.fixtures] == list(range(1, len(encounter.fixtures) + 1))
            assert encounter.fixtures[0].players == (encounter.first, encounter.second)


def test_the_berger_table_for_eight_is_the_published_one() -> None:
    assert berger_rounds("12345678") == tuple(
        tuple((pairing[0], pairing[1]) for pairing in line.split())
        for line in (
            "18 27 36 45",
            "85 64 73 12",
            "28 31 47 56",
            "86 75 14 23",
            "38 42 51 67",
            "87 16 25 34",
            "48 53 62 71",
        )
    )


@settings(deadline=None)
@given(sizes, games, boards, seeds)
def test_in_a_round_robin_every_two_meet_as_often_as_promised(
    size: int, per_pairing: int, given_seeds: list[int], seed: int
) -> None:
    players = names(size)
    format_ = make_format("round_robin", players, seed=seed, games_per_pairing=per_pairing, seeds=given_seeds)
    plan = format_.plan({})
    fixtures = list(plan.fixtures())
    assert plan.complete
    assert meetings(fixtures) == {frozenset(two): per_pairing for two in combinations(players, 2)}
    assert format_.number_of_games() == (len(fixtures), len(fixtures))
    assert len(plan.rounds) == size - 1 + size % 2
    assert not any(each.byes for each in plan.rounds)
    assert_rounds_hold_nobody_twice(plan)
    assert_ids_are_names(plan)
    assert_colours_differ_by_at_most(1 if per_pairing == 1 and size % 2 == 0 else 0, players, fixtures)
    if per_pairing > 1:
        assert_each_seed_once_per_side(fixtures)


@settings(deadline=None)
@given(sizes, st.sampled_from([2, 4, 6]), boards, seeds)
def test_the_second_leg_is_the_first_with_sides_swapped_on_the_same_boards(
    size: int, per_pairing: int, given_seeds: list[int], seed: int
) -> None:
    players = names(size)
    format_ = make_format("double_round_robin", players, seed=seed, games_per_pairing=per_pairing, seeds=given_seeds)
    plan = format_.plan({})
    fixtures = list(plan.fixtures())
    half = len(fixtures) // 2
    assert meetings(fixtures) == {frozenset(two): per_pairing for two in combinations(players, 2)}
    assert [(f.blue, f.red, f.seed, f.pair, f.table, f.number) for f in fixtures[half:]] == [
        (f.red, f.blue, f.seed, f.pair, f.table, f.number) for f in fixtures[:half]
    ]
    assert_each_seed_once_per_side(fixtures)
    assert_rounds_hold_nobody_twice(plan)
    assert_ids_are_names(plan)
    assert_colours_differ_by_at_most(0, players, fixtures)


@settings(deadline=None)
@given(st.data(), sizes, games, boards, seeds, st.booleans())
def test_in_a_gauntlet_challengers_meet_everybody_and_the_others_only_them(
    data: st.DataObject, size: int, per_pairing: int, given_seeds: list[int], seed: int, among_themselves: bool
) -> None:
    players = names(size)
    challengers = data.draw(st.lists(st.sampled_from(players), min_size=1, max_size=size - 1, unique=True))
    format_ = make_format(
        "gauntlet",
        players,
        seed=seed,
        games_per_pairing=per_pairing,
        seeds=given_seeds,
        challengers=challengers,
        challengers_meet=among_themselves,
    )
    plan = format_.plan({})
    fixtures = list(plan.fixtures())
    wanted = [two for two in combinations(players, 2) if len(set(two) & set(challengers)) == 1]
    if among_themselves:
        wanted += combinations(challengers, 2)
    assert meetings(fixtures) == {frozenset(two): per_pairing for two in wanted}
    assert format_.number_of_games() == (len(fixtures), len(fixtures))
    assert_rounds_hold_nobody_twice(plan)
    assert_ids_are_names(plan)
    assert_colours_differ_by_at_most(1 if per_pairing == 1 else 0, players, fixtures)
    if per_pairing > 1:
        assert_each_seed_once_per_side(fixtures)


def test_a_gauntlet_of_one_takes_a_round_per_opponent() -> None:
    plan = make_format("gauntlet", names(5), seed=1, challengers=["bot3"]).plan({})
    assert [[{e.first, e.second} for e in each.encounters] for each in plan.rounds] == [
        [{"bot3", other}] for other in ("bot1", "bot2", "bot4", "bot5")
    ]


@settings(deadline=None)
@given(st.integers(1, 8), st.lists(st.integers(0, 99), min_size=8, max_size=20, unique=True))
def test_given_seeds_are_taken_in_turn_and_begin_again_at_the_end(pairs: int, given_seeds: list[int]) -> None:
    plan = make_format("round_robin", names(8), seed=1, games_per_pairing=2 * pairs, seeds=given_seeds).plan({})
    of_each_table = [[e.fixtures[0::2] for e in each.encounters] for each in plan.rounds]
    for table in range(4):
        taken = [fixture.seed for each in of_each_table for fixture in each[table]]
        assert taken == [given_seeds[i % len(given_seeds)] for i in range(len(taken))]


def test_drawn_seeds_depend_on_the_tournaments_seed_alone() -> None:
    one, same, other = (
        [f.seed for f in make_format("round_robin", names(12), seed=seed).plan({}).fixtures()] for seed in (1, 1, 2)
    )
    assert one == same
    assert not set(one) & set(other)
    assert len(set(one)) == 12 * 11 // 2
    assert all(0 <= seed < 2**53 for seed in one)


def test_what_is_known_from_the_start_is_worked_out_only_once() -> None:
    format_ = make_format("round_robin", names(64), seed=1)
    plan = format_.plan({})
    assert len(list(plan.fixtures())) == 4032
    assert format_.plan({}) is plan


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"name": "robin"}, "no format 'robin'"),
        ({"players": ["a"]}, "at least 2 players"),
        ({"players": ["a", "b", "a"]}, "a stands twice"),
        ({"games_per_pairing": 0}, "must be 1 or an even number, not 0"),
        ({"games_per_pairing": 3}, "must be 1 or an even number, not 3"),
        ({"name": "double_round_robin", "games_per_pairing": 1}, "must be even, not 1"),
        ({"rounds": 3}, "knows no rounds"),
        ({"challengers": ["a"]}, "knows no challengers"),
        ({"name": "gauntlet"}, "needs challengers"),
        ({"name": "gauntlet", "challengers": ["z"]}, "z is named as a challenger"),
        ({"name": "gauntlet", "challengers": ["a", "a"]}, "a stands twice"),
        ({"name": "gauntlet", "challengers": ["a", "b", "c"]}, "nobody to meet"),
        ({"seeds": [1], "games_per_pairing": 4}, "at least 2"),
        ({"seeds": [1, 1]}, "names a seed twice"),
        ({"tie_pairs": -1}, "tie_pairs must be 0 or more"),
    ],
)
def test_settings_that_do_not_fit_are_told_in_a_sentence(settings: dict[str, object], sentence: str) -> None:
    arguments: dict[str, object] = {"name": "round_robin", "players": ["a", "b", "c"], "seed": 1} | settings
    with pytest.raises(ValueError, match=sentence):
        make_format(**arguments)  # type: ignore[arg-type]  # what a file may say, wrong on purpose
