"""Points, standings, tie-breaks and cross tables, by a published tournament and by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import pytest

from triarena.protocol.values import ForfeitReason
from triarena.tournament.cross_table import cross_table
from triarena.tournament.points import PointTable, total
from triarena.tournament.standings import Row, lot, standings
from triarena.tournament.tally import IRREGULAR, irregular, tallies
from triarena.tournament.tie_breaks import TIE_BREAKS
from triarena.tournament.values import Encounter, Fixture, Plan, Played, Round, SideName

CANDIDATES_2016 = {
    # Moscow, March 2016, as published: the two games against each opponent, in the order of the rows.
    "Karjakin": "** ½1 10 ½½ ½½ ½½ 1½ ½1",
    "Caruana": "½0 ** ½1 ½½ ½½ ½½ ½1 ½½",
    "Anand": "01 ½0 ** 1½ ½1 ½½ ½0 1½",
    "Svidler": "½½ ½½ 0½ ** ½1 ½½ ½½ ½½",
    "Aronian": "½½ ½½ ½0 ½0 ** ½½ 1½ 1½",
    "Giri": "½½ ½½ ½½ ½½ ½½ ** ½½ ½½",
    "Nakamura": "0½ ½0 ½1 ½½ 0½ ½½ ** 11",
    "Topalov": "½0 ½½ 0½ ½½ 0½ ½½ 00 **",
}


def game(
    round_: int,
    red: str,
    blue: str,
    winner: SideName | None,
    reason: str = "points",
    offenders: tuple[SideName, ...] = (),
    number: int = 1,
    scores: tuple[float, float] = (0, 0),
    table: int = 1,
) -> Played:
    fixture = Fixture(round_, table, number, red, blue, 7, f"{round_}.{table}.{(number + 1) // 2}")
    return Played(fixture, winner, reason, offenders, *scores)


def history(games: Sequence[Played]) -> dict[str, Played]:
    found = {each.fixture.id: each for each in games}
    assert len(found) == len(games)
    return found


def candidates() -> dict[str, Played]:
    names, games = list(CANDIDATES_2016), []
    for row, (name, line) in enumerate(CANDIDATES_2016.items()):
        for column, cell in enumerate(line.split()):
            if row < column:
                for number, mark in enumerate(cell, 1):
                    winner: SideName | None = {"1": "red", "0": "blue", "½": None}[mark]
                    games.append(game(1, name, names[column], winner, number=number, table=row * 8 + column))
    return history(games)


def by_name(rows: Sequence[Row]) -> dict[str, Row]:
    return {row.player: row for row in rows}


def test_the_candidates_of_2016_stand_as_published_by_points_direct_encounter_and_wins() -> None:
    rows = standings(
        sorted(CANDIDATES_2016), {}, candidates(), tie_breaks=("direct_encounter", "wins", "sonneborn_berger")
    )
    assert [(row.rank, row.player, row.points, row.tie_breaks["direct_encounter"], row.wins) for row in rows] == [
        (1, "Karjakin", 8.5, 0.0, 4),
        (2, "Caruana", 7.5, 1.5, 2),
        (3, "Anand", 7.5, 0.5, 4),
        (4, "Svidler", 7.0, 3.5, 1),
        (5, "Aronian", 7.0, 3.0, 2),
        (6, "Giri", 7.0, 3.0, 0),
        (7, "Nakamura", 7.0, 2.5, 3),
        (8, "Topalov", 4.5, 0.0, 0),
    ]
    assert not any(row.by_lot for row in rows)
    assert all(row.wins + row.draws + row.losses == row.played == 14 for row in rows)


def test_sonneborn_berger_of_a_cross_table_is_its_quadratic_form() -> None:
    values = by_name(standings(list(CANDIDATES_2016), {}, candidates(), tie_breaks=("sonneborn_berger",)))
    points = {name: sum({"1": 1, "½": 0.5}.get(m, 0) for m in line) for name, line in CANDIDATES_2016.items()}
    for name, line in CANDIDATES_2016.items():
        cells = zip(line.split(), points.values(), strict=True)
        by_hand = sum({"1": 1, "½": 0.5}.get(mark, 0) * made for cell, made in cells for mark in cell)
        assert values[name].tie_breaks["sonneborn_berger"] == by_hand


def test_in_a_round_robin_buchholz_parts_nobody() -> None:
    rows = standings(list(CANDIDATES_2016), {}, candidates(), tie_breaks=("buchholz",))
    assert all(row.tie_breaks["buchholz"] == total(each.points for each in rows) - row.points for row in rows)


def swiss() -> tuple[Plan, dict[str, Played]]:
    """Five players, three rounds; each round somebody has a bye, and in the last one somebody never comes."""
    games = [
        game(1, "Ann", "Bob", "red"),
        game(1, "Cyd", "Dan", None, table=2),
        game(2, "Eve", "Ann", "blue"),
        game(2, "Bob", "Cyd", "red", table=2),
        game(3, "Ann", "Cyd", None),
        game(3, "Dan", "Eve", "red", "no_show", ("blue",), table=2),
    ]
    rounds = tuple(
        Round(
            number,
            tuple(
                Encounter(each.fixture.table, *each.fixture.players, (each.fixture,))
                for each in games
                if each.fixture.round == number
            ),
            (bye,),
        )
        for number, bye in ((1, "Eve"), (2, "Dan"), (3, "Bob"))
    )
    return Plan(rounds, complete=True), history(games)


def test_buchholz_counts_a_bye_and_a_no_show_as_a_dummy_with_the_players_own_points() -> None:
    plan, played = swiss()
    rows = by_name(
        standings(["Ann", "Bob", "Cyd", "Dan", "Eve"], plan, played, tie_breaks=("buchholz", "buchholz_cut_1"))
    )
    assert {name: row.points for name, row in rows.items()} == {"Ann": 2.5, "Dan": 2.5, "Bob": 2, "Cyd": 1, "Eve": 1}
    assert {name: row.byes for name, row in rows.items()} == {"Ann": 0, "Dan": 1, "Bob": 1, "Cyd": 0, "Eve": 1}
    assert rows["Ann"].tie_breaks == {"buchholz": 2 + 1 + 1, "buchholz_cut_1": 2 + 1}
    assert rows["Bob"].tie_breaks == {"buchholz": 2.5 + 1 + 2, "buchholz_cut_1": 2.5 + 2}
    assert rows["Dan"].tie_breaks == {"buchholz": 1 + 2.5 + 2.5, "buchholz_cut_1": 2.5 + 2.5}
    assert rows["Eve"].tie_breaks == {"buchholz": 1 + 2.5 + 1, "buchholz_cut_1": 2.5 + 1}
    assert rows["Eve"].forfeits == {"no_show": 1}


def test_sonneborn_berger_weighs_a_bye_with_the_players_own_points() -> None:
    plan, played = swiss()
    rows = by_name(standings(["Ann", "Bob", "Cyd", "Dan", "Eve"], plan, played, tie_breaks=("sonneborn_berger",)))
    assert rows["Ann"].tie_breaks["sonneborn_berger"] == 2 + 1 + 0.5
    assert rows["Dan"].tie_breaks["sonneborn_berger"] == 0.5 + 2.5 + 2.5
    assert rows["Bob"].tie_breaks["sonneborn_berger"] == 1 + 2


def test_direct_encounter_says_nothing_of_players_who_did_not_meet() -> None:
    games = history([game(1, "Ann", "Xi", "red"), game(1, "Bob", "Yu", "red", table=2)])
    rows = standings(["Ann", "Bob", "Xi", "Yu"], {}, games, tie_breaks=("direct_encounter",))
    assert {row.tie_breaks["direct_encounter"] for row in rows} == {0.0}


def test_direct_encounter_parts_who_beat_all_others_whatever_the_missing_game_would_bring() -> None:
    games = [game(1, "Ann", "Bob", "red"), game(2, "Ann", "Cyd", "red")]
    games += [game(3, "Bob", "Xi", "red"), game(4, "Cyd", "Xi", "red"), game(5, "Xi", "Ann", None)]
    games += [game(6, "Bob", "Yu", "red"), game(7, "Cyd", "Yu", "red"), game(8, "Zoe", "Ann", "red")]
    found = by_name(
        standings(
            ["Ann", "Bob", "Cyd", "Xi", "Yu", "Zoe"],
            {"Zoe": 0},
            history(games),
            PointTable(win=1, draw=0),
            tie_breaks=("direct_encounter",),
        )
    )
    assert found["Ann"].points == found["Bob"].points == found["Cyd"].points == 2
    assert found["Ann"].tie_breaks["direct_encounter"] == 2
    assert found["Bob"].tie_breaks["direct_encounter"] == found["Cyd"].tie_breaks["direct_encounter"] == 0
    assert (found["Ann"].by_lot, found["Bob"].by_lot, found["Cyd"].by_lot) == (False, True, True)


def test_game_scores_are_differences_and_nobody_gains_by_failing() -> None:
    games = [
        game(1, "Ann", "Bob", "red", scores=(30, 12)),
        game(2, "Ann", "Bob", "blue", "timeout", ("red",), scores=(30, 12)),
        game(3, "Ann", "Bob", "blue", "timeout", ("red",), scores=(5, 12)),
        game(4, "Ann", "Bob", None, "timeout", ("red", "blue"), scores=(5, 12)),
    ]
    rows = by_name(standings(["Ann", "Bob"], {}, history(games), tie_breaks=("game_scores",)))
    assert rows["Ann"].tie_breaks["game_scores"] == 18 + 0 - 7 + 0
    assert rows["Bob"].tie_breaks["game_scores"] == -11


def test_what_only_the_lot_decides_is_shown_as_such_and_is_drawn_anew_with_another_seed() -> None:
    players = [f"bot {number}" for number in range(8)]
    drawn = [tuple(row.player for row in standings(players, {}, {}, lot_seed=seed)) for seed in range(20)]
    assert all(row.by_lot for row in standings(players, {}, {}))
    assert len(set(drawn)) > 15
    assert drawn[3] == tuple(row.player for row in standings(players[::-1], {}, {}, lot_seed=3))
    assert lot(1, "Ann") != lot(2, "Ann") != lot(2, "Bob")


def test_the_table_is_the_same_in_whatever_order_the_games_ended() -> None:
    games, rng = list(candidates().items()), random.Random(4)
    expected = standings(list(CANDIDATES_2016), {}, dict(games), PointTable(0.7, 0.3, 0.1), tuple(TIE_BREAKS))
    for _ in range(20):
        rng.shuffle(games)
        table = PointTable(0.7, 0.3, 0.1)
        assert standings(list(CANDIDATES_2016), {}, dict(games), table, tuple(TIE_BREAKS)) == expected


def test_rows_descend_in_points_and_then_in_the_tie_breaks() -> None:
    rng, players = random.Random(5), [f"bot {number}" for number in range(12)]
    for _ in range(50):
        winners: list[SideName | None] = ["red", "blue", None]
        games = []
        for number in range(40):
            red, blue = rng.sample(players, 2)
            games.append(game(number, red, blue, rng.choice(winners)))
        names = rng.sample(sorted(TIE_BREAKS), 3)
        rows = standings(players, {}, history(games), tie_breaks=names)
        keys = [(row.points, *row.tie_breaks.values()) for row in rows]
        assert keys == sorted(keys, reverse=True)
        assert [row.rank for row in rows] == list(range(1, 13))
        assert {row.player for row in rows if row.by_lot} == {
            row.player for row, key in zip(rows, keys, strict=True) if keys.count(key) > 1
        }


def test_the_places_of_a_knockout_come_before_points_and_are_shared() -> None:
    games = history(
        [game(1, "Ann", "Bob", "red"), game(1, "Cyd", "Dan", "red", table=2), game(2, "Ann", "Cyd", "blue")]
    )
    rows = standings(["Ann", "Bob", "Cyd", "Dan"], {}, games, placing=(("Cyd",), ("Ann",), ("Bob", "Dan")))
    assert [(row.rank, row.player, row.by_lot) for row in rows][:2] == [(1, "Cyd", False), (2, "Ann", False)]
    assert {(row.rank, row.player) for row in rows[2:]} == {(3, "Bob"), (3, "Dan")}
    with pytest.raises(ValueError, match="every player once"):
        standings(["Ann", "Bob"], {}, {}, placing=(("Ann",),))


def test_points_follow_the_table() -> None:
    table = PointTable(win=3, draw=1, loss=0, bye=2, forfeit_loss=-1, both_failed=-0.5)
    results = [
        (game(1, "Ann", "Bob", "red"), 3, 0),
        (game(1, "Ann", "Bob", None), 1, 1),
        (game(1, "Ann", "Bob", "red", "timeout", ("blue",)), 3, -1),
        (game(1, "Ann", "Bob", "blue", "surrender", ("red",)), 0, 3),
        (game(1, "Ann", "Bob", None, "disconnected", ("red", "blue")), -0.5, -0.5),
    ]
    for played, ann, bob in results:
        assert (table.points(played, "Ann"), table.points(played, "Bob")) == (ann, bob)
    assert [row.points for row in standings(["Ann", "Bob"], {"Bob": 2}, {}, table)] == [4, 0]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"win": 0.4}, "a win must be worth at least a draw"),
        ({"loss": float("nan")}, "loss must be a finite number"),
        ({"forfeit_loss": 0.5}, "a forfeit must not be worth more than a loss"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(values: dict[str, float], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        PointTable(**values)


def test_equal_sums_are_equal_whatever_their_terms() -> None:
    assert total([0.1] * 3) == total([0.3]) == 0.3
    assert str(total([-0.0])) == "0.0"


def test_every_forfeit_but_surrender_has_a_word_for_people() -> None:
    known = sorted({*get_args(ForfeitReason), "start_failed"} - {"surrender"})
    assert sorted(reason for reasons in IRREGULAR.values() for reason in reasons) == known
    forfeits = {"timeout": 2, "no_show": 1, "left": 4, "disconnected": 8, "stalled": 16, "illegal_move": 32}
    counts = [irregular(forfeits, kind) for kind in ("no-shows", "time-outs", "crashes", "illegal moves")]
    assert counts == [1, 2, 28, 32]


def test_strangers_doubles_and_unknown_tie_breaks_are_refused() -> None:
    played = history([game(1, "Ann", "Bob", "red")])
    with pytest.raises(ValueError, match="'Bob' played game 1"):
        standings(["Ann"], {}, played)
    with pytest.raises(ValueError, match="same name"):
        standings(["Ann", "Ann"], {}, {})
    with pytest.raises(ValueError, match="no tie-break 'elo'; there are direct_encounter"):
        standings(["Ann"], {}, {}, tie_breaks=("elo",))
    with pytest.raises(ValueError, match="named twice"):
        standings(["Ann"], {}, {}, tie_breaks=("wins", "wins"))


def test_the_games_of_an_encounter_are_one_meeting() -> None:
    games = history([game(1, "Ann", "Bob", "red"), game(1, "Bob", "Ann", "red", number=2), game(2, "Ann", "Bob", None)])
    (first, second) = tallies(["Ann", "Bob"], {}, games, PointTable())["Ann"].meetings
    assert (first.games, first.points, first.wins, second.games, second.points) == (2, 1.0, 1, 1, 0.5)


def test_the_cross_table_mirrors_every_game() -> None:
    names = list(CANDIDATES_2016)
    cells = cross_table(names, candidates())
    for row, name in enumerate(names):
        assert cells[row][row] is None
        made = [cell.points for cell in cells[row] if cell is not None]
        assert total(made) == by_name(standings(names, {}, candidates()))[name].points
    (ann, bob) = (cells[0][2], cells[2][0])
    assert ann is not None
    assert bob is not None
    assert (ann.games, ann.wins, ann.draws, ann.losses, ann.points) == (2, 1, 0, 1, 1.0)
    assert (bob.games, bob.wins, bob.losses) == (2, 1, 1)
    assert cross_table(["Ann", "Bob"], {}) == ((None, None), (None, None))


def test_games_broken_off_as_undecided_are_draws_with_a_count_of_their_own() -> None:
    games = [game(1, "Ann", "Bob", None, "ply_limit"), game(2, "Bob", "Ann", None), game(3, "Ann", "Bob", "red")]
    ann, bob = standings(["Ann", "Bob"], {}, history(games))
    assert (ann.draws, ann.unfinished, ann.points) == (2, 1, 2.0)
    assert (bob.draws, bob.unfinished, bob.points) == (2, 1, 1.0)


def test_a_program_that_could_not_be_started_has_crashed_without_having_played() -> None:
    games = history([game(1, "Ann", "Bob", "red", "start_failed", ("blue",))])
    _, bob = standings(["Ann", "Bob"], {}, games)
    assert irregular(bob.forfeits, "crashes") == 1
    assert all(each.unplayed for each in tallies(["Ann", "Bob"], {}, games, PointTable())["Bob"].meetings)


def test_who_failed_for_a_reason_of_its_own_has_it_in_its_own_column() -> None:
    both = replace(game(1, "Ann", "Bob", None, "no_show", ("red", "blue")), reasons=("start_failed", "no_show"))
    ann, bob = (by_name(standings(["Ann", "Bob"], {}, history([both])))[name] for name in ("Ann", "Bob"))
    assert [irregular(ann.forfeits, kind) for kind in ("crashes", "no-shows")] == [1, 0]
    assert [irregular(bob.forfeits, kind) for kind in ("crashes", "no-shows")] == [0, 1]


def test_a_bye_is_given_when_its_round_begins() -> None:
    plan, played = swiss()

    def byes(rounds: int) -> dict[str, int]:
        so_far = {id_: each for id_, each in played.items() if each.fixture.round <= rounds}
        rows = standings(["Ann", "Bob", "Cyd", "Dan", "Eve"], plan, so_far)
        return {row.player: row.byes for row in rows if row.byes}

    assert [byes(rounds) for rounds in range(4)] == [
        {},
        {"Eve": 1},
        {"Eve": 1, "Dan": 1},
        {"Eve": 1, "Dan": 1, "Bob": 1},
    ]
