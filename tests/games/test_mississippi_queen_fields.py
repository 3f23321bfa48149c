"""What a bot's author sees of the river and the ships: fields in cube coordinates and words, no cells."""

from __future__ import annotations

import pytest

from triarena.games import Side
from triarena.games.mississippi_queen import GAME, Direction, Hex, MississippiQueenPosition
from triarena.games.mississippi_queen.river import BLOCKED, GOAL, PASSABLE, SANDBANK


@pytest.fixture(scope="module")
def start() -> MississippiQueenPosition:
    return GAME.start({}, 2)


def test_a_ship_tells_its_field(start: MississippiQueenPosition) -> None:
    assert start.ship(Side.RED).position == Hex(-1, -1, 2)
    assert start.ship(Side.BLUE).position == (-2, 1, 1)


def test_a_field_is_shown_as_in_the_notation_of_coordinates() -> None:
    assert str(Hex(3, -1, -2)) == "(3, -1, -2)"


def test_neighbours_are_in_the_order_of_the_directions() -> None:
    field = Hex(2, -3, 1)
    assert field.neighbours()[Direction.DOWN_LEFT] == field.neighbour(Direction.DOWN_LEFT) == (1, -2, 1)
    assert all(field.distance(beside) == 1 and sum(beside) == 0 for beside in field.neighbours())
    assert len(set(field.neighbours())) == 6


def test_the_distance_counts_steps() -> None:
    assert Hex(0, 0, 0).distance((3, -1, -2)) == 3
    assert Hex(-1, -1, 2).distance(Hex(-1, -1, 2)) == 0


def test_the_fields_are_those_of_the_revealed_segments(start: MississippiQueenPosition) -> None:
    fields = list(start.river.fields())
    assert len(set(fields)) == len(fields) == 40
    assert fields[20:] == list(start.river.segments[1].fields())
    assert all(start.field(field) for field in fields)


def test_whoever_stands_on_a_field_scores_its_points(start: MississippiQueenPosition) -> None:
    for side in Side:
        assert start.river.points(start.ship(side).position) == start.score(side).points
    assert [start.river.points(field) for field in start.river.segments[1].fields()] == [5] * 5 + [6] * 5 + [7] * 5 + [
        8
    ] * 5


def test_outside_the_revealed_river_is_nothing(start: MississippiQueenPosition) -> None:
    for far in ((-9, 0, 9), (40, 0, -40), (0, 900, -900)):
        assert start.field(far) is None
        assert not start.river.is_stream(far)
        assert start.river.points(far) == 0


def test_what_is_no_cube_coordinate_is_refused(start: MississippiQueenPosition) -> None:
    with pytest.raises(ValueError, match=r"\(1, 1, 1\) is no field"):
        start.field((1, 1, 1))


def test_kinds_of_fields_agree_with_what_ships_can_do() -> None:
    river = GAME.start({"sandbanks": 2}, 4).beyond[-1]
    kinds = {"water": PASSABLE, "goal": GOAL, "sandbank": SANDBANK, "island": BLOCKED, "passenger": BLOCKED}
    seen = set()
    for segment in river.segments:
        for cell, field in zip(segment.cells(), segment.fields(), strict=True):
            kind = river.kind(field)
            assert kind is not None
            assert river.kinds[cell] & kinds[kind]
            seen.add(kind)
    assert seen == set(kinds)


def test_the_stream_runs_through_the_middle_of_a_straight_segment(start: MississippiQueenPosition) -> None:
    assert [q for q in range(-2, 3) if start.river.is_stream((q, 0, -q))] == [-1, 0, 1, 2]
    assert not start.river.is_stream((0, 1, -1))


def test_a_passenger_waits_beside_its_dock_and_leaves_an_island_behind() -> None:
    position = next(p for p in (GAME.start({}, seed) for seed in range(30)) if p.waiting())
    (passenger,) = position.waiting()
    assert passenger.field.neighbour(passenger.direction) == passenger.dock
    assert position.field(passenger.field) == "passenger"
    assert position.field(passenger.dock) == "water"
    gone = GAME.read_position(_fetched(position))
    assert gone.waiting() == []
    assert gone.field(passenger.field) == "island"


def _fetched(position: MississippiQueenPosition) -> dict[str, object]:
    """The wire form with every waiting passenger marked as taken."""
    wire: dict[str, object] = GAME.write_position(position)
    segments = wire["segments"]
    assert isinstance(segments, list)
    taken = str.maketrans("012345", "abcdef")
    wire["segments"] = [s | {"columns": [column.translate(taken) for column in s["columns"]]} for s in segments]
    return wire
