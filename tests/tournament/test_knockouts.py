"""Knockouts: brackets, ties, second chances, places."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triarena.tournament.bracket import double_elimination, single_elimination
from triarena.tournament.formats import make_format
from triarena.tournament.knockout import Decision, Knockout
from triarena.tournament.seeds import Seeds
from triarena.tournament.values import Fixture, Played

from .played_out import by_chance, names, play_out

sizes = st.integers(2, 64)
games = st.sampled_from([1, 2, 4])
ties = st.integers(0, 3)
chances = st.integers(0, 2**32)


def knockout(name: str, size: int, per_pairing: int = 2, tie_pairs: int = 1, *, drawn: bool = False) -> Knockout:
    bracket = {"single": single_elimination, "double": double_elimination}[name](names(size))
    return Knockout(bracket, per_pairing, Seeds(1), tie_pairs, drawn=drawn)


def favourite(fixture: Fixture) -> Played:
    better = min(fixture.players, key=lambda name: int(name[3:]))
    return Played(fixture, fixture.side_of(better), "points")


def drawn_game(fixture: Fixture) -> Played:
    return Played(fixture, None, "points")


@settings(deadline=None, max_examples=40)
@given(sizes, games, ties, chances)
def test_in_a_single_knockout_all_but_one_lose_exactly_once(size: int, per: int, tie_pairs: int, seed: int) -> None:
    format_ = knockout("single", size, per, tie_pairs)
    chance = random.Random(seed)
    plan, played = play_out(format_, by_chance(chance), chance)
    decisions = format_.decisions(played)
    assert plan.complete
    assert len(decisions) == size - 1
    (winner,), *others = format_.placing(played)
    assert Counter(each.loser for each in decisions) == {name: 1 for name in names(size) if name != winner}
    assert decisions[-1].winner == winner
    assert decisions[-1].loser == others[0][0]
    assert sorted(name for place in format_.placing(played) for name in place) == sorted(names(size))


@settings(deadline=None, max_examples=40)
@given(sizes, games, ties, chances)
def test_in_a_double_knockout_the_second_defeat_is_the_end(size: int, per: int, tie_pairs: int, seed: int) -> None:
    format_ = knockout("double", size, per, tie_pairs)
    chance = random.Random(seed)
    plan, played = play_out(format_, by_chance(chance), chance)
    defeats = Counter(each.loser for each in format_.decisions(played))
    (winner,), *_ = format_.placing(played)
    assert plan.complete
    assert defeats[winner] <= 1
    assert all(defeats[name] == 2 for name in names(size) if name != winner)
    assert (plan.rounds[-1].title == "second final") == (defeats[winner] == 1)
    assert sorted(name for place in format_.placing(played) for name in place) == sorted(names(size))


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(["knockout", "double_knockout"]), sizes, games, ties, chances)
def test_no_more_and_no_fewer_games_than_foretold(name: str, size: int, per: int, tie_pairs: int, seed: int) -> None:
    format_ = make_format(name, names(size), seed=1, games_per_pairing=per, tie_pairs=tie_pairs)
    chance = random.Random(seed)
    least, most = format_.number_of_games()
    assert most is not None
    assert least <= len(play_out(format_, by_chance(chance), chance)[1]) <= most
    only_wins = play_out(format_, favourite, chance)[1]
    assert len(only_wins) == least


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(["single", "double"]), sizes, chances)
def test_nobody_is_twice_in_a_round(name: str, size: int, seed: int) -> None:
    chance = random.Random(seed)
    plan, _ = play_out(knockout(name, size), by_chance(chance), chance)
    for each in plan.rounds:
        busy = [*each.byes, *(player for e in each.encounters for player in (e.first, e.second))]
        assert len(set(busy)) == len(busy)
    ids = [fixture.id for fixture in plan.fixtures()]
    assert len(set(ids)) == len(ids)


@settings(deadline=None, max_examples=40)
@given(sizes)
def test_the_first_seeds_have_the_byes_and_favourites_meet_as_late_as_possible(size: int) -> None:
    format_ = knockout("single", size)
    plan, played = play_out(format_, favourite, random.Random(1))
    slots = 1 << (size - 1).bit_length()
    assert sorted(plan.rounds[0].byes) == sorted(names(slots - size))
    for back, each in enumerate(reversed(plan.rounds[1:])):
        left = {player for e in each.encounters for player in (e.first, e.second)}
        assert left == set(names(2 << back))
    assert [len(place) for place in format_.placing(played)][:2] == [1, 1]


def test_rounds_are_called_by_their_names() -> None:
    plan, _ = play_out(knockout("single", 16), favourite, random.Random(1))
    assert [each.title for each in plan.rounds] == ["round of 16", "quarter-finals", "semi-finals", "final"]
    plan, _ = play_out(knockout("double", 4), favourite, random.Random(1))
    assert [each.title for each in plan.rounds] == [
        "winners' round 1",
        "losers' round 1",
        "winners' round 2",
        "losers' round 2",
        "final",
    ]


def test_the_first_losers_meet_the_first_winners_of_the_other_half() -> None:
    plan, _ = play_out(knockout("double", 8), favourite, random.Random(1))
    met: dict[frozenset[str], int] = {}
    for each in plan.rounds[:4]:
        for encounter in each.encounters:
            two = frozenset((encounter.first, encounter.second))
            assert two not in met
            met[two] = each.number


def test_a_winner_goes_on_while_others_still_play_the_first_round() -> None:
    format_ = knockout("single", 8)
    played = {f.id: favourite(f) for e in format_.plan({}).rounds[0].encounters[:2] for f in e.fixtures}
    plan = format_.plan(played)
    assert [{e.first, e.second} for e in plan.rounds[1].encounters] == [{"bot1", "bot4"}]
    assert format_.placing(played) == (("bot1", "bot2", "bot3", "bot4", "bot6", "bot7"), ("bot5", "bot8"))
    assert not plan.complete


def test_who_has_a_bye_or_has_won_has_reached_the_next_round_before_its_opponent_is_known() -> None:
    format_ = knockout("single", 6, per_pairing=1)
    reached = format_.reached({})
    assert {title for _, title in map(reached.__getitem__, ("bot1", "bot2"))} == {"semi-finals"}
    assert {reached[f"bot{n}"][1] for n in range(3, 7)} == {"quarter-finals"}
    first = format_.plan({}).rounds[0].encounters[0].fixtures[0]
    played = {first.id: favourite(first)}
    winner = played[first.id].winner_name
    assert winner is not None
    assert format_.reached(played)[winner][1] == "semi-finals"


def test_a_second_final_is_reached_only_if_there_is_one() -> None:
    format_ = knockout("double", 2, tie_pairs=0)
    for winner, title in (("bot1", "final"), ("bot2", "second final")):
        played = {f.id: favourite(f) for f in format_.plan({}).fixtures()}
        assert {each[1] for each in format_.reached(played).values()} == {"final"}
        final = format_.plan(played).rounds[1].encounters[0]
        played |= {f.id: Played(f, f.side_of(winner), "points") for f in final.fixtures}
        assert {each[1] for each in format_.reached(played).values()} == {title}


@pytest.mark.parametrize(
    ("results", "decision", "played_games"),
    [
        ({"1.1.1": "red", "1.1.2": "blue"}, "wins", 2),
        ({"1.1.1": "red"}, "wins", 2),
        ({"1.1.1": "red", "1.1.2": "red", "1.1.3": "red"}, "further games", 4),
        ({"1.1.1": "red", "1.1.2": "red", "1.1.5": "red"}, "further games", 6),
        ({"1.1.6": (3.0, 2.0)}, "game scores", 6),
        ({}, "seed", 6),
    ],
)
def test_a_tie_is_broken_by_further_pairs_then_game_scores_then_the_seeding(
    results: Mapping[str, str | tuple[float, float]], decision: str, played_games: int
) -> None:
    def result(fixture: Fixture) -> Played:
        match results.get(fixture.id):
            case "red":
                return Played(fixture, "red", "points")
            case "blue":
                return Played(fixture, "blue", "points")
            case (float() as red, float() as blue):
                return Played(fixture, None, "points", (), red, blue)
            case _:
                return Played(fixture, None, "points")

    format_ = knockout("single", 2, tie_pairs=2)
    plan, played = play_out(format_, result, random.Random(1))
    (found,) = format_.decisions(played)
    assert found.ground == decision
    assert len(played) == played_games
    assert plan.complete
    # bot1 is red in odd games; the scores above are those of an even one, so bot2 leads by them
    assert found.winner == ("bot2" if decision == "game scores" else "bot1")
    pairs = Counter((f.pair, f.seed) for f in plan.fixtures())
    assert set(pairs.values()) == {2}
    assert len({seed for _, seed in pairs}) == played_games // 2


def test_what_decided_is_said_as_such() -> None:
    merit, lot = (knockout("single", 2, tie_pairs=0, drawn=drawn) for drawn in (False, True))
    _, played = play_out(merit, drawn_game, random.Random(1))
    assert str(merit.decisions(played)[0]) == (
        "bot1 beat bot2 by the better place in the seeding, after a tie in everything else."
    )
    assert str(lot.decisions(played)[0]) == "bot1 beat bot2 by lot, after a tie in everything else."
    assert str(Decision(1, 1, "Ann", "Bob", "wins")) == "Ann beat Bob by wins."


def test_a_single_drawn_game_is_followed_by_whole_pairs() -> None:
    plan, _ = play_out(knockout("single", 2, 1, tie_pairs=2), drawn_game, random.Random(1))
    fixtures = list(plan.fixtures())
    assert [(f.number, f.red, f.pair) for f in fixtures] == [
        (1, "bot1", "1.1.1"),
        (2, "bot1", "1.1.2"),
        (3, "bot2", "1.1.2"),
        (4, "bot1", "1.1.3"),
        (5, "bot2", "1.1.3"),
    ]


def test_a_game_that_both_failed_is_a_win_for_nobody() -> None:
    format_ = knockout("single", 2)

    def result(fixture: Fixture) -> Played:
        if fixture.number == 2:
            return favourite(fixture)
        return Played(fixture, None, "crash", ("red", "blue"))

    _, played = play_out(format_, result, random.Random(1))
    assert format_.decisions(played) == (Decision(1, 1, "bot1", "bot2", "wins"),)


def second_final(wins: Callable[[Fixture], str]) -> list[str]:
    format_ = knockout("double", 2, tie_pairs=0)
    plan, played = play_out(format_, lambda f: Played(f, f.side_of(wins(f)), "points"), random.Random(1))
    assert plan.complete
    return [each.title for each in plan.rounds] + [format_.placing(played)[0][0]]


def test_the_undefeated_one_has_to_be_beaten_twice() -> None:
    assert second_final(lambda f: "bot1") == ["winners' round 1", "final", "bot1"]
    assert second_final(lambda f: "bot1" if f.round == 1 else "bot2") == [
        "winners' round 1",
        "final",
        "second final",
        "bot2",
    ]
    assert second_final(lambda f: "bot2" if f.round == 2 else "bot1")[-2:] == ["second final", "bot1"]


def test_given_seeds_must_last_for_the_further_pairs_too() -> None:
    with pytest.raises(ValueError, match="at least 3"):
        make_format("knockout", ["a", "b"], seed=1, seeds=[1, 2], tie_pairs=2)
