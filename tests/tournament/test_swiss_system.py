"""Swiss rounds: the rules kept, and no better pairing to be found by anybody else."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triarena.tournament.formats import make_format
from triarena.tournament.points import STANDARD, PointTable
from triarena.tournament.swiss import repeated_meetings
from triarena.tournament.values import Fixture, History, Plan, Played, Round

from .played_out import by_chance, names, play_out

seeds = st.integers(0, 2**32)


@st.composite
def tournaments(draw: st.DrawFn) -> tuple[Plan, dict[str, Played], list[str]]:
    """A Swiss tournament of at most half as many rounds as there are players, played out."""
    size = draw(st.integers(2, 64))
    rounds = draw(st.integers(1, max(1, min(size // 2, 9))))
    players = names(size)
    format_ = make_format("swiss", players, seed=1, rounds=rounds, games_per_pairing=draw(st.sampled_from([1, 2, 4])))
    chance = random.Random(draw(seeds))
    return *play_out(format_, by_chance(chance), chance), players


@settings(max_examples=60, deadline=None)
@given(tournaments())
def test_everybody_plays_or_has_a_bye_in_every_round_and_meets_nobody_twice(
    tournament: tuple[Plan, dict[str, Played], list[str]],
) -> None:
    plan, _, players = tournament
    assert plan.complete
    for each in plan.rounds:
        there = [*each.byes, *(name for e in each.encounters for name in (e.first, e.second))]
        assert sorted(there) == sorted(players)
        assert len(each.byes) == len(players) % 2
    byes = Counter(name for each in plan.rounds for name in each.byes)
    assert all(count == 1 for count in byes.values())
    assert repeated_meetings(plan) == ()


@settings(max_examples=60, deadline=None)
@given(tournaments())
def test_pairs_balance_colours_and_single_games_differ_by_two_at_most(
    tournament: tuple[Plan, dict[str, Played], list[str]],
) -> None:
    plan, _, players = tournament
    red, blue = (Counter(f.red for f in plan.fixtures()), Counter(f.blue for f in plan.fixtures()))
    single = all(len(e.fixtures) == 1 for each in plan.rounds for e in each.encounters)
    assert max(abs(red[name] - blue[name]) for name in players) <= (2 if single else 0)


@settings(max_examples=60, deadline=None)
@given(tournaments())
def test_the_bye_goes_to_somebody_with_the_fewest_points_of_those_who_had_none(
    tournament: tuple[Plan, dict[str, Played], list[str]],
) -> None:
    plan, played, players = tournament
    for index, each in enumerate(plan.rounds):
        score = scores(players, plan.rounds[:index], played, STANDARD)
        had = {name for earlier in plan.rounds[:index] for name in earlier.byes}
        for name in each.byes:
            assert score[name] == min(score[other] for other in players if other not in had)


def test_the_first_round_folds_the_seeding_and_alternates_colours() -> None:
    first = make_format("swiss", names(8), seed=1, rounds=3).plan({}).rounds[0]
    assert [(e.first, e.second) for e in first.encounters] == [
        ("bot1", "bot5"),
        ("bot6", "bot2"),
        ("bot3", "bot7"),
        ("bot8", "bot4"),
    ]
    odd = make_format("swiss", names(7), seed=1, rounds=3).plan({}).rounds[0]
    assert odd.byes == ("bot7",)
    assert [{e.first, e.second} for e in odd.encounters] == [{f"bot{i}", f"bot{i + 3}"} for i in (1, 2, 3)]


def test_the_first_round_can_be_drawn_by_lot() -> None:
    drawn = {
        seed: make_format("swiss", names(8), seed=seed, rounds=3, seeding="lot").plan({}).rounds[0].encounters
        for seed in (1, 2)
    }
    again = make_format("swiss", names(8), seed=1, rounds=3, seeding="lot").plan({}).rounds[0].encounters
    assert drawn[1] == again
    assert [(e.first, e.second) for e in drawn[1]] != [(e.first, e.second) for e in drawn[2]]


def test_in_the_second_round_winners_meet_winners() -> None:
    format_ = make_format("swiss", names(8), seed=1, rounds=3, games_per_pairing=1)
    played = {f.id: Played(f, "red", "points") for f in format_.plan({}).fixtures()}
    second = format_.plan(played).rounds[1]
    assert {frozenset((e.first, e.second)) for e in second.encounters} == {
        frozenset(two) for two in (("bot1", "bot6"), ("bot3", "bot8"), ("bot2", "bot5"), ("bot4", "bot7"))
    }


def test_the_points_of_the_table_are_what_pairs() -> None:
    """With draws worth nothing, those who drew are as good opponents of who lost as of each other, and had met."""
    table = PointTable(win=3, draw=0, loss=0, bye=3)
    format_ = make_format("swiss", names(4), seed=1, rounds=2, games_per_pairing=1, points=table)
    first, second = format_.plan({}).fixtures()
    played = {first.id: Played(first, "red", "points"), second.id: Played(second, None, "points")}
    one, two = format_.plan(played).rounds
    score = scores(names(4), [one], played, table)
    assert score == {first.red: 3, first.blue: 0, second.red: 0, second.blue: 0}
    assert {frozenset((e.first, e.second)) for e in two.encounters} in (
        {frozenset((first.red, second.red)), frozenset((first.blue, second.blue))},
        {frozenset((first.red, second.blue)), frozenset((first.blue, second.red))},
    )


def test_longer_than_can_be_without_repeats_as_few_as_possible_repeat_and_are_named() -> None:
    repeats = 0
    for seed in range(30):
        chance = random.Random(seed)
        plan, _ = play_out(make_format("swiss", names(6), seed=1, rounds=5), by_chance(chance), chance)
        met = Counter(frozenset((e.first, e.second)) for each in plan.rounds for e in each.encounters)
        assert sum(count - 1 for count in met.values()) == len(repeated_meetings(plan))
        assert all(number > 3 for number, _, _ in repeated_meetings(plan))
        assert len(repeated_meetings(plan)) <= 2  # 3 rounds leave a triangle twice at worst: one pair has to repeat
        repeats += len(repeated_meetings(plan))
    assert repeats  # the case does occur


@pytest.mark.parametrize("rounds", [0, 6, 40])
def test_more_rounds_than_opponents_are_refused(rounds: int) -> None:
    with pytest.raises(ValueError, match=f"of 6 players can have 1 to 5 rounds, not {rounds}"):
        make_format("swiss", names(6), seed=1, rounds=rounds)


# Against independent libraries: 200 random tournaments each.


def random_tournaments(
    count: int, games: int, failures: float = 0.05
) -> list[tuple[Plan, dict[str, Played], list[str]]]:
    found = []
    for number in range(count):
        chance = random.Random(number)
        players = names(chance.randint(4, 64 if number % 10 == 0 else 24))
        rounds = chance.randint(2, min(9, len(players) // 2))
        format_ = make_format("swiss", players, seed=number, rounds=rounds, games_per_pairing=games)
        found.append(
            (*play_out(format_, by_chance(chance, slope=chance.random() / 2, failures=failures), chance), players)
        )
    return found


def scores(players: Sequence[str], rounds: Sequence[Round], played: History, table: PointTable) -> dict[str, float]:
    found = dict.fromkeys(players, 0.0)
    for each in rounds:
        for name in each.byes:
            found[name] += table.bye
        for fixture in each.fixtures():
            for name in fixture.players:
                found[name] += table.points(played[fixture.id], name)
    return found


def score_sum(round_: Round, score: Mapping[str, float]) -> float:
    return sum(abs(score[e.first] - score[e.second]) for e in round_.encounters)


def ours(round_: Round, score: Mapping[str, float]) -> tuple[float, float]:
    """What is compared: the bye's points, then the sum of differences."""
    return sum(score[name] for name in round_.byes), score_sum(round_, score)


@pytest.mark.slow
@pytest.mark.parametrize("games", [1, 2])
def test_a_matching_library_finds_no_smaller_sum_under_the_same_rules(games: int) -> None:
    networkx = pytest.importorskip("networkx", reason="the independent matching library, of the dev group")
    compared = 0
    for plan, played, players in random_tournaments(200, games):
        for index, each in enumerate(plan.rounds):
            before = plan.rounds[:index]
            score = scores(players, before, played, STANDARD)
            met = {frozenset((e.first, e.second)) for r in before for e in r.encounters}
            reds = Counter(f.red for r in before for f in r.fixtures())
            blues = Counter(f.blue for r in before for f in r.fixtures())
            lean = {name: reds[name] - blues[name] for name in players}
            graph = networkx.Graph()
            graph.add_weighted_edges_from(
                (one, other, round(10 * abs(score[one] - score[other])))
                for i, one in enumerate(players)
                for other in players[:i]
                if frozenset((one, other)) not in met and not (abs(lean[one]) == 2 and lean[one] == lean[other])
            )
            had = {name for r in before for name in r.byes}
            best: tuple[float, float] | None = None
            for bye in sorted({score[name] for name in players if name not in had}) if len(players) % 2 else [0.0]:
                candidates = [n for n in players if n not in had and score[n] == bye] if len(players) % 2 else []
                trial = graph.copy()
                trial.add_weighted_edges_from(("", name, 0) for name in candidates)
                matching = networkx.min_weight_matching(trial)
                if 2 * len(matching) == len(players) + len(players) % 2:
                    best = bye, sum(trial[a][b]["weight"] for a, b in matching) / 10
                    break
            assert best is not None
            assert ours(each, score) == pytest.approx(best)
            compared += 1
    assert compared > 600


@pytest.mark.slow
def test_a_library_for_the_dutch_system_finds_no_smaller_sum(tmp_path: Path) -> None:
    engines = pytest.importorskip("py4swiss.engines", reason="the independent pairing library, of the dev group")
    trf = pytest.importorskip("py4swiss.trf", reason="the independent pairing library, of the dev group")
    smaller = equal = 0
    for plan, played, players in random_tournaments(200, games=1, failures=0):
        for index, each in enumerate(plan.rounds):
            before = plan.rounds[:index]
            score = scores(players, before, played, STANDARD)
            report = tmp_path / "report.trf"
            report.write_text(tournament_report(players, before, played, score), "ascii")
            theirs = engines.DutchEngine.generate_pairings(trf.TrfParser.parse(report))
            bye, total = 0.0, 0.0
            for white, black in ((p.white, p.black) for p in theirs):
                if black and white:
                    total += abs(score[players[white - 1]] - score[players[black - 1]])
                else:
                    bye += score[players[(white or black) - 1]]
            assert ours(each, score) <= (bye, total + 1e-9)
            smaller += ours(each, score) < (bye, total - 1e-9)
            equal += ours(each, score) == pytest.approx((bye, total))
    assert equal > 5 * smaller > 0  # as good in most rounds, as systems with the same aim should be


def tournament_report(
    players: Sequence[str], rounds: Sequence[Round], played: History, score: Mapping[str, float]
) -> str:
    """The rounds so far as FIDE's report file (TRF16), the format that pairing programs exchange."""
    number = {name: i for i, name in enumerate(players, 1)}
    cells: dict[str, list[str]] = {name: [] for name in players}
    for each in rounds:
        for name in each.byes:
            cells[name].append("0000 - U")
        for fixture in each.fixtures():
            game = played[fixture.id]
            for name, other, colour in ((fixture.red, fixture.blue, "w"), (fixture.blue, fixture.red, "b")):
                result = "=" if game.winner is None else "1" if game.winner_name == name else "0"
                cells[name].append(f"{number[other]:4} {colour} {result}")
    ranked = sorted(players, key=lambda name: -score[name])
    lines = [
        f"001 {number[name]:4} {'':1}{'':3} {name:33} {3000 - number[name]:4} {'':3} {'':11} {'':10} "
        f"{score[name]:4.1f} {ranked.index(name) + 1:4}  " + "  ".join(cells[name])
        for name in players
    ]
    return "\n".join(["012 Random tournament", *lines, "XXR 63", "XXC white1", ""])


def test_a_plan_asked_with_other_results_is_another_plan() -> None:
    """What was worked out before must not leak into answers about other histories."""
    format_ = make_format("swiss", names(8), seed=1, rounds=3, games_per_pairing=1)

    def history(rounds: int, winner: str) -> dict[str, Played]:
        found: dict[str, Played] = {}
        for _ in range(rounds):
            fixtures: list[Fixture] = list(
                make_format("swiss", names(8), seed=1, rounds=3, games_per_pairing=1).plan(found).fixtures()
            )
            found |= {f.id: Played(f, "red" if winner == "red" else "blue", "points") for f in fixtures}
        return found

    histories = [history(n, winner) for n in (3, 2, 1, 0) for winner in ("red", "blue")]
    for each in [*histories, *reversed(histories)]:
        fresh = make_format("swiss", names(8), seed=1, rounds=3, games_per_pairing=1)
        assert format_.plan(each) == fresh.plan(each)
    assert all(a != b for a, b in pairwise([format_.plan(each) for each in histories[:2]]))
