"""The rules of Mississippi Queen, one by one, on a straight river of water; red is to move unless told otherwise.

On that river the field (q, r) lies in row r, -2 to 2, and column max(q, q + r) + 1 of the whole, 0 to 31. The stream is
row 0. What the original program did with many more positions is checked by the golden tests.
"""

from __future__ import annotations

from typing import Any

import pytest

from triarena.games import IllegalMove, Outcome, Score, Side
from triarena.games.mississippi_queen import GAME, Direction, MississippiQueenPosition, Ship
from triarena.games.mississippi_queen.geometry import cell_at, field_of
from triarena.games.mississippi_queen.position import start_position
from triarena.games.mississippi_queen.profiles import SEED
from triarena.games.mississippi_queen.river import Segment

BOTH = pytest.mark.parametrize("rules", ["seed", "server-24.2.5"])


def column(q: int, r: int) -> int:
    return max(q, q + r) + 1


def ship(q: int, r: int, direction: str = "right", **rest: int) -> dict[str, Any]:
    passengers = rest.get("passengers", 0)
    points = column(q, r) // 4 * 5 + column(q, r) % 4 + 5 * passengers
    wire = {"position": [q, r, -q - r], "direction": direction, "speed": 1, "coal": 6, "passengers": 0, "free_turns": 1}
    return {**wire, **rest, "points": points}


def river(marks: dict[tuple[int, int], str], segments: int = 8) -> list[dict[str, Any]]:
    """The segments of a straight river with those marks on its water."""
    grid = [[["W"] * 5 for _ in range(4)] for _ in range(segments)]
    if segments == 8:
        grid[7][3][1:4] = "GGG"
    for (q, r), mark in marks.items():
        grid[column(q, r) // 4][column(q, r) % 4][r + 2] = mark
    return [
        {"direction": "right", "center": [4 * k, 0, -4 * k], "columns": ["".join(one) for one in segment]}
        for k, segment in enumerate(grid)
    ]


def position(
    red: dict[str, Any],
    blue: dict[str, Any],
    marks: dict[tuple[int, int], str] | None = None,
    *,
    segments: int = 8,
    **rest: Any,
) -> MississippiQueenPosition:
    wire = {
        "game": "mississippi_queen",
        "rules": "seed",
        "sandbanks": 2,
        "segments": river(marks or {}, segments),
        "next_direction": None if segments == 8 else "right",
        "turn": 1,
        "to_move": "red",
        "red": red,
        "blue": blue,
        **rest,
    }
    return GAME.read_position(wire)


def play(start: MississippiQueenPosition, *moves: str) -> MississippiQueenPosition:
    for move in moves:
        start = start.play(GAME.parse(move))
    return start


def code(start: MississippiQueenPosition, move: str) -> str:
    with pytest.raises(IllegalMove) as caught:
        start.check(GAME.parse(move))
    assert str(caught.value)
    return caught.value.code


def legal(start: MississippiQueenPosition) -> set[str]:
    return {GAME.format(move) for move in start.legal_moves()}


def outcome(start: MississippiQueenPosition) -> Outcome:
    assert start.outcome is not None
    return start.outcome


def at(one: Ship) -> tuple[int, int]:
    q, r, _ = field_of(one.cell)
    return (q, r)


# The start


def test_a_game_starts_as_the_rules_say() -> None:
    start = GAME.start({}, 1)
    assert (start.turn, start.to_move, len(start.river.segments), start.outcome) == (0, Side.RED, 2, None)
    assert (start.red, start.blue) == (Ship(cell_at((-1, -1, 2))), Ship(cell_at((-2, 1, 1))))
    assert (start.red.speed, start.red.coal, start.red.passengers, start.red.free_turns) == (1, 6, 0, 1)
    assert start.score(Side.RED) == Score(0, (("passengers", 0),))


# Movement


def test_an_advance_through_the_stream_costs_one_point_more_however_long() -> None:
    start = position(ship(0, 0, speed=4), ship(-2, 2))
    assert at(play(start, "M3").red) == (3, 0)
    assert code(start, "M4") == "advance_movement_points_missing"


def test_leaving_the_stream_costs_nothing_more() -> None:
    assert at(play(position(ship(0, 0, "up_right"), ship(-2, 2)), "M1").red) == (1, -1)


def test_a_turn_between_two_advances_starts_a_new_surcharge_even_if_it_turns_nowhere() -> None:
    start = position(ship(0, 0, speed=4), ship(-2, 2))
    assert at(play(start, "M1 TR M1").red) == (2, 0)
    assert at(play(start, "M1 M2").red) == (3, 0)


def test_a_second_step_of_turning_costs_a_coal_and_the_free_one_is_used_first() -> None:
    start = position(ship(0, -1, coal=1), ship(-2, 2))
    assert play(start, "TUR M1").red.coal == 1
    assert play(start, "TUR TR M1").red.coal == 0
    assert code(start, "TL M1") == "not_enough_coal_for_rotation"


@pytest.mark.parametrize("by", [3, -3])
def test_accelerating_and_braking_cost_a_coal_for_each_unit_but_the_first(by: int) -> None:
    start = position(ship(-1, -1, speed=4 if by < 0 else 1), ship(-2, 2))
    assert play(start, f"A{by} M{4 if by > 0 else 1}").red.coal == 4


@pytest.mark.parametrize("distance", [-1, 0])
def test_every_single_distance_must_be_at_least_one(distance: int) -> None:
    start = position(ship(-1, -1, speed=2), ship(-2, 2))
    assert code(start, f"M{distance} M3") == "invalid_distance"
    assert code(start, f"M2 M{distance}") == "invalid_distance"


def test_a_hidden_field_is_no_field() -> None:
    start = position(ship(6, -1, speed=2), ship(5, 1), segments=2)
    assert code(start, "M2") == "field_is_blocked"
    with pytest.raises(IllegalMove, match=r"\(7, -1, -6\), outside the revealed river"):
        start.check(GAME.parse("M2"))


def test_after_the_end_every_move_is_refused() -> None:
    over = position(ship(0, -1), ship(0, 1), turn=60)
    assert code(over, "M1") == "game_over"
    assert legal(over) == set()


# Pushing


def test_a_pushed_ship_gets_a_free_turn_for_each_push_and_loses_them_with_its_move() -> None:
    start = position(ship(0, -1, speed=4), ship(1, -1, coal=0))
    pushed = play(start, "M1 PR M1 PR")
    assert (at(pushed.red), at(pushed.blue), pushed.blue.free_turns) == ((2, -1), (3, -1), 3)
    assert pushed.to_move is Side.BLUE
    assert play(pushed, "TUL M1").blue.free_turns == 1


def test_no_ship_is_pushed_onto_a_hidden_field() -> None:
    start = position(ship(5, -1, speed=2), ship(6, -1), segments=2)
    assert code(start, "M1 PR") == "invalid_field_push"
    assert "M1 PDL" in legal(start)


# Passengers

DOCK = {(2, -1): "1"}  # a passenger at (2, -1), whose dock is (2, 0), on the stream


@BOTH
def test_a_ship_fetches_at_effective_speed_one_only(rules: str) -> None:
    start = position(ship(1, 0, speed=2), ship(-2, 2), DOCK, rules=rules)
    assert play(start, "M1").red.passengers == 1
    assert play(position(ship(1, 0, speed=3), ship(-2, 2), DOCK, rules=rules), "M2").red.passengers == 0
    dry = position(ship(0, 1, speed=2), ship(-2, 2), {(2, 0): "2"}, rules=rules)
    assert play(dry, "A-1 M1").red.passengers == 1
    assert play(position(ship(-1, 1, speed=2), ship(-2, 2), {(2, 0): "2"}, rules=rules), "M2").red.passengers == 0


@pytest.mark.parametrize(("rules", "speed", "fetched"), [("seed", 2, 1), ("server-24.2.5", 2, 0), ("seed", 1, 1)])
def test_a_pushed_ship_fetches_on_the_stream_at_speed_two_by_the_written_rules_only(
    rules: str, speed: int, fetched: int
) -> None:
    start = position(ship(0, 1, speed=2), ship(1, 1, speed=speed), DOCK, rules=rules)
    pushed = play(start, "M1 PUR")
    assert (at(pushed.blue), pushed.blue.passengers, pushed.taken) == ((2, 0), fetched, fetched)


def test_a_fetched_passenger_waits_no_more_and_still_blocks() -> None:
    start = position(ship(1, 0, speed=2), ship(-2, 2), DOCK)
    assert [field_of(passenger.cell) for passenger in start.waiting()] == [(2, -1, -1)]
    after = play(start, "M1")
    assert after.waiting() == []
    assert GAME.write_position(after)["segments"][0]["columns"][3] == "WbWWW"
    assert code(after, "A-1 TUL M1") == "field_is_blocked"
    assert after.score(Side.RED) == Score(3 + 5, (("passengers", 1),))


def test_of_two_passengers_at_a_dock_the_first_clockwise_from_right_is_fetched_first() -> None:
    start = position(ship(3, 2, "up_right"), ship(-2, 2), {(3, 1): "0", (5, 1): "3"})
    assert [field_of(passenger.cell)[:2] for passenger in start.waiting()] == [(3, 1), (5, 1)]
    assert [field_of(passenger.cell)[:2] for passenger in play(start, "M1").waiting()] == [(3, 1)]


def test_a_passenger_in_a_hidden_segment_is_not_there_yet() -> None:
    board = tuple(
        Segment(Direction.RIGHT, (4 * k, 0, -4 * k), tuple(one["columns"]))
        for k, one in enumerate(river({(7, 0): "2"}))
    )
    start = start_position(board, SEED)
    assert start.waiting() == []
    assert start.beyond[0].docks.keys() == {cell_at((6, 1, -7))}


# The order of the moves


def test_the_ship_ahead_begins_a_round_then_the_faster_then_the_one_with_more_coal_then_red() -> None:
    def first(red: dict[str, Any], blue: dict[str, Any]) -> Side:
        return play(position(red, blue), "TR M1").to_move

    assert first(ship(4, -1), ship(5, 1)) is Side.BLUE
    assert first(ship(4, -1), ship(3, 1)) is Side.RED
    assert first(ship(4, -1), ship(4, 1, speed=2)) is Side.BLUE
    assert first(ship(4, -1, coal=5), ship(4, 1)) is Side.BLUE
    assert first(ship(4, -1), ship(4, 1)) is Side.RED


def test_a_side_moves_twice_in_a_row_if_it_comes_first_in_the_next_round() -> None:
    start = position(ship(-1, -1), ship(9, 1), to_move="blue")
    assert play(start, "M1").to_move is Side.BLUE
    assert play(start, "M1", "M1").to_move is Side.RED


# Revealing


def test_a_segment_is_revealed_when_a_move_ends_on_the_last_revealed_one() -> None:
    board = tuple(
        Segment(Direction.RIGHT, (4 * k, 0, -4 * k), tuple(one["columns"])) for k, one in enumerate(river({}))
    )
    start = start_position(board, SEED)
    assert len(play(start, "A1 M2").river.segments) == 2
    assert len(play(start, "A4 M5").river.segments) == 3
    assert len(play(start.visible(), "A4 M5").river.segments) == 2


# The end


@pytest.mark.parametrize(("rules", "winner", "points"), [("seed", Side.RED, 6), ("server-24.2.5", Side.BLUE, 0)])
def test_a_side_that_cannot_move_ends_the_game_and_loses_by_the_original_program_only(
    rules: str, winner: Side, points: int
) -> None:
    boxed = {(4, -1): "W", (5, -1): "I", (4, 0): "I", (3, 0): "I", (3, -1): "I", (4, -2): "I", (5, -2): "I"}
    end = position(ship(4, -1), ship(0, 1), boxed, rules=rules)
    assert outcome(end) == Outcome(
        winner, "no_move", Score(points, (("passengers", 0),)), Score(2, (("passengers", 0),))
    )
    assert end.to_move is Side.RED
    assert end.score(Side.RED).points == points


def test_a_side_that_could_only_move_onto_hidden_fields_cannot_move() -> None:
    end = position(ship(4, -1, speed=6, coal=0), ship(0, 1), segments=2)
    assert outcome(end).reason == "no_move"


def test_four_segments_behind_ends_the_game_at_the_end_of_a_round_or_at_once_by_the_original_program() -> None:
    far = ship(16, -1)
    assert position(ship(0, -1), far, turn=5).outcome is None
    assert outcome(position(ship(0, -1), far, turn=6)).reason == "segment_distance"
    assert outcome(position(ship(0, -1), far, turn=5, rules="server-24.2.5")).reason == "segment_distance"
    assert position(ship(4, -1), far, turn=6).outcome is None


@pytest.mark.parametrize(("rules", "winner"), [("seed", Side.RED), ("server-24.2.5", Side.BLUE)])
def test_points_decide_after_four_segments_behind_but_the_leader_wins_in_the_original_program(
    rules: str, winner: Side
) -> None:
    end = position(ship(0, -1, passengers=5), ship(16, -1), turn=6, rules=rules)
    assert (outcome(end).reason, outcome(end).winner) == ("segment_distance", winner)


@BOTH
@pytest.mark.parametrize(
    ("red", "blue", "winner"),
    [
        (ship(8, -1), ship(0, -1), Side.RED),
        (ship(8, -1), ship(4, 1, passengers=1), Side.BLUE),
        (ship(8, -1), ship(4, -1, passengers=1), Side.BLUE),
        (ship(8, -1), ship(7, 1), None),
    ],
)
def test_after_thirty_rounds_points_decide_then_passengers(
    rules: str, red: dict[str, Any], blue: dict[str, Any], winner: Side | None
) -> None:
    end = position(red, blue, turn=60, rules=rules)
    assert (outcome(end).reason, outcome(end).winner) == ("round_limit", winner)
    assert position(red, blue, turn=59, rules=rules).outcome is None


GOAL = (30, 0)  # the middle goal field; (30, -1) and (29, 1) are the others


@BOTH
@pytest.mark.parametrize(
    ("red", "wins"),
    [
        (ship(*GOAL, speed=2, passengers=2), True),
        (ship(*GOAL, speed=3, passengers=2), False),
        (ship(*GOAL, passengers=1), False),
        (ship(30, -1, passengers=2), True),
        (ship(30, -1, speed=2, passengers=2), False),
        (ship(30, -2, passengers=2), False),
    ],
)
def test_a_goal_counts_at_effective_speed_one_with_two_passengers(rules: str, red: dict[str, Any], wins: bool) -> None:
    end = position({**red, "direction": "left"}, ship(28, 2, "left", passengers=1), turn=6, rules=rules)
    assert (end.outcome is not None) is wins
    if wins:
        assert (outcome(end).reason, outcome(end).winner) == ("goal", Side.RED)


@BOTH
def test_the_round_is_finished_after_a_goal_and_a_ship_pushed_off_has_not_reached_it(rules: str) -> None:
    start = position(
        ship(30, -1, "left", passengers=2),
        ship(29, -1, speed=2, passengers=2),
        turn=5,
        to_move="blue",
        rules=rules,
    )
    assert start.outcome is None
    assert play(start, "M1 PUL").outcome is None
    assert outcome(play(start, "TL M2")).winner is Side.RED


@BOTH
def test_two_ships_in_goal_are_told_apart_by_points_and_passengers(rules: str) -> None:
    draw = position(ship(30, -1, passengers=2), ship(29, 1, passengers=2), turn=6, rules=rules)
    assert (outcome(draw).reason, outcome(draw).winner) == ("goal", None)
    won = position(ship(30, -1, passengers=2), ship(29, 1, passengers=3), turn=6, rules=rules)
    assert (outcome(won).reason, outcome(won).winner) == ("goal", Side.BLUE)


@BOTH
def test_a_goal_beats_the_other_side_being_stuck(rules: str) -> None:
    boxed = {(4, -1): "W", (5, -1): "I", (4, 0): "I", (3, 0): "I", (3, -1): "I", (4, -2): "I", (5, -2): "I"}
    end = position(ship(30, -1, passengers=2), ship(4, -1), boxed, turn=1, to_move="blue", rules=rules)
    assert (outcome(end).reason, outcome(end).winner) == ("goal", Side.RED)


# Sandbanks

SAND = {(2, -1): "S"}


def test_an_advance_may_end_on_a_sandbank_and_uses_up_everything() -> None:
    start = position(ship(-1, -1, speed=5), ship(-2, 2), SAND)
    after = play(start, "M3")
    assert (at(after.red), after.red.speed, after.red.coal) == ((2, -1), 1, 6)
    assert code(start, "M4") == "move_end_on_sandbank"
    assert code(start, "M3 TUR") == "sand_bank_end"
    assert code(position(ship(-1, -1, speed=2), ship(-2, 2), SAND), "M3") == "advance_movement_points_missing"


def test_a_move_from_a_sandbank_is_one_field_forward_or_one_back_for_a_coal() -> None:
    start = position(ship(2, -1), ship(-2, 2), SAND)
    assert legal(start) == {"M1", "M-1"}
    assert (at(play(start, "M1").red), play(start, "M1").red.coal) == ((3, -1), 6)
    assert (at(play(start, "M-1").red), play(start, "M-1").red.coal) == ((1, -1), 5)
    assert code(position(ship(2, -1, coal=0), ship(-2, 2), SAND), "M-1") == "no_coal_for_reverse"
    assert code(start, "A1 M1") == "on_sandbank"
    assert code(start, "TUR M1") == "rotation_on_sandbank_not_allowed"
    assert code(start, "PR") == "sandbank_push"
    assert code(start, "M1 TUR") == "sand_bank_end"
    assert code(start, "M2") == "invalid_distance"


def test_a_sandbank_in_the_stream_can_be_left_along_the_stream() -> None:
    assert legal(position(ship(2, 0), ship(-2, 2), {(2, 0): "S"})) == {"M1", "M-1"}


def test_a_sandbank_is_not_left_onto_the_other_ship_or_an_island() -> None:
    start = position(ship(2, -1), ship(3, -1), {**SAND, (1, -1): "I"})
    assert outcome(start).reason == "no_move"
    free = position(ship(2, -1), ship(3, -1), SAND)
    assert legal(free) == {"M-1"}
    assert code(free, "M1") == "insufficient_push"


def test_a_ship_pushed_onto_a_sandbank_gets_speed_one_and_no_free_turn() -> None:
    pushed = play(position(ship(0, -1, speed=2), ship(1, -1, speed=4), SAND), "M1 PR").blue
    assert (at(pushed), pushed.speed, pushed.free_turns) == ((2, -1), 1, 1)


def test_nobody_is_pushed_off_a_sandbank() -> None:
    start = position(ship(1, -1, speed=2), ship(2, -1), SAND)
    assert code(start, "M1 PR") == "sandbank_push"
    assert not any(move.startswith("M1 P") for move in legal(start))
