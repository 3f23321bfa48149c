"""The rules of FlowerWars, one fact at a time, and the number of games from the empty board."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from itertools import islice

import pytest

from triarena.games.core import BadOptions, IllegalMove, MalformedMove, Score, Side
from triarena.games.flowerwars import (
    END_MOVE,
    GAME,
    NO_MOVE,
    Dig,
    End,
    Flower,
    FlowerWarsPosition,
    Plant,
    board,
)


def up(column: int, row: int) -> Flower:
    return Flower(column, row, up=True)


def down(column: int, row: int) -> Flower:
    return Flower(column, row, up=False)


def stand(
    size: int,
    red: Iterable[Flower] = (),
    blue: Iterable[Flower] = (),
    ditches: Iterable[Dig] = (),
    blue_ditches: Iterable[Dig] = (),
) -> FlowerWarsPosition:
    """A position with red to move."""
    marks = dict.fromkeys(red, "r") | dict.fromkeys(blue, "b")
    rows: dict[int, str] = {}
    for flower in board(size).flowers:
        rows[flower.row] = rows.get(flower.row, "") + marks.get(flower, ".")
    return GAME.read_position(
        {
            "game": "flowerwars",
            "size": size,
            "to_move": "red",
            "fields": "/".join(rows.values()),
            "red_ditches": [dig.ditch for dig in ditches],
            "blue_ditches": [dig.ditch for dig in blue_ditches],
        }
    )


def played(size: int, *moves: str) -> FlowerWarsPosition:
    position = GAME.start({"size": size})
    for move in moves:
        position = position.play(GAME.parse(move))
    return position


def code(position: FlowerWarsPosition, move: Plant | Dig | End) -> str:
    with pytest.raises(IllegalMove) as refused:
        position.check(move)
    return refused.value.code


GARDEN = [up(2, 1), down(2, 1), up(3, 1), down(1, 1)]
"""Four flowers in a row along the lower rim."""


def test_the_board_has_as_many_fields_points_and_edges_as_the_rules_say() -> None:
    for size, fields, edges in ((3, 9, 18), (5, 25, 45), (10, 100, 165), (20, 400, 630), (30, 900, 1395)):
        table = board(size)
        assert len(table.flowers) == fields
        assert len(table.edges) == edges
        assert len({point for flower in table.flowers for point in flower.points}) == (size + 1) * (size + 2) // 2


def test_fields_are_numbered_by_their_first_point_then_by_the_column_of_the_second() -> None:
    table = board(7)
    keys = [(row, column, second) for (column, row), (second, _), _ in (flower.points for flower in table.flowers)]
    assert keys == sorted(keys)
    assert [table.field(flower) for flower in table.flowers] == list(range(49))


@pytest.mark.parametrize("size", [2, 31, 0, -1, True, "8", 8.0, None])
def test_a_size_outside_3_to_30_is_refused(size: object) -> None:
    with pytest.raises(BadOptions, match="size"):
        GAME.start({"size": size})


def test_the_default_size_is_8() -> None:
    assert GAME.start({}).size == 8


@pytest.mark.parametrize(
    ("size", "leaves"),
    [(3, [36, 756, 8010, 26640, 11952]), (4, [120, 10920, 729126]), (5, [300, 75900]), (30, [404550])],
)
def test_there_are_as_many_games_of_a_length_as_counted_independently(size: int, leaves: list[int]) -> None:
    positions = [GAME.start({"size": size})]
    for depth, expected in enumerate(leaves, 1):
        lists = [list(position.legal_moves()) for position in positions]
        assert sum(map(len, lists)) == expected
        if depth < len(leaves):
            positions = [p.play(move) for p, moves in zip(positions, lists, strict=True) for move in moves]


def test_listing_is_lazy() -> None:
    moves = GAME.start({"size": 30}).legal_moves()
    assert list(islice(moves, 2)) == [Plant(up(1, 1), down(1, 1)), Plant(up(1, 1), up(2, 1))]


def test_red_moves_first_and_then_the_sides_alternate() -> None:
    position = GAME.start({})
    assert position.to_move is Side.RED
    assert position.play(Plant(up(1, 1), up(3, 3))).to_move is Side.BLUE


def test_the_order_of_two_flowers_and_of_two_ends_does_not_matter() -> None:
    assert Plant(up(3, 1), down(1, 1)) == Plant(down(1, 1), up(3, 1))
    assert Dig(((1, 2), (2, 1))) == Dig(((2, 1), (1, 2)))
    assert Plant(down(1, 1), up(1, 1)).flowers == (up(1, 1), down(1, 1))


def test_playing_leaves_the_position_as_it_was() -> None:
    position = GAME.start({"size": 4})
    position.play(Plant(up(1, 1), up(3, 1)))
    assert position == GAME.start({"size": 4})


def test_positions_reached_by_different_orders_are_equal() -> None:
    a, b, c = Plant(up(1, 1), up(3, 1)), Plant(up(1, 3), down(1, 3)), Plant(up(2, 2), down(3, 1))
    one = GAME.start({"size": 4}).play(a).play(b).play(c)
    other = GAME.start({"size": 4}).play(c).play(b).play(a)
    assert one == other
    assert hash(one) == hash(other)


def test_a_position_survives_pickling() -> None:
    position = GAME.start({"size": 5}).play(Plant(up(1, 1), up(3, 1)))
    again = pickle.loads(pickle.dumps(position))
    assert again == position
    assert list(again.legal_moves()) == list(position.legal_moves())


def test_a_flower_must_lie_on_the_board() -> None:
    position = GAME.start({"size": 5})
    assert code(position, Plant(up(1, 1), up(6, 1))) == "flower_off_board"
    assert code(position, Plant(down(5, 1), up(1, 1))) == "flower_off_board"
    assert code(position, Plant(up(0, 1), up(1, 1))) == "flower_off_board"
    assert code(position, Plant(up(1, 0), up(10**9, 10**9))) == "flower_off_board"
    position.check(Plant(up(5, 1), down(4, 1)))


def test_a_field_takes_one_flower_of_either_side() -> None:
    position = stand(5, red=[up(1, 1)], blue=[up(3, 3)])
    assert code(position, Plant(up(1, 1), up(5, 1))) == "field_taken"
    assert code(position, Plant(up(5, 1), up(3, 3))) == "field_taken"
    assert code(position, Plant(up(5, 1), up(5, 1))) == "same_flower_twice"


def test_fields_along_a_ditch_are_infertile_for_both_sides() -> None:
    position = stand(5, red=[up(1, 1), up(3, 1)], ditches=[Dig(((2, 1), (3, 1)))])
    assert code(position, Plant(up(2, 1), up(1, 5))) == "field_infertile"
    after = position.play(Plant(up(1, 5), up(5, 1)))
    with pytest.raises(IllegalMove, match=r"\{\(2,1\),\(3,1\),\(2,2\)\} is infertile: red's ditch \{\(2,1\),\(3,1\)\}"):
        after.check(Plant(up(2, 1), up(1, 3)))


def test_a_bed_never_has_more_than_four_flowers() -> None:
    position = stand(6, red=[up(1, 1), down(1, 1), up(2, 1), up(3, 1)])
    assert code(position, Plant(down(2, 1), up(1, 6))) == "bed_too_large"


def test_a_garden_takes_no_fifth_flower() -> None:
    assert code(stand(6, red=GARDEN), Plant(up(1, 1), up(1, 6))) == "garden_full"


def test_a_bed_may_not_touch_an_own_garden_even_by_a_corner() -> None:
    assert code(stand(6, red=GARDEN), Plant(up(4, 1), up(1, 6))) == "touches_own_garden"
    assert code(stand(6, red=[*GARDEN, up(5, 1)]), Plant(down(4, 1), up(4, 1))) == "touches_own_garden"


def test_a_new_garden_may_not_touch_an_own_bed() -> None:
    assert code(stand(6, red=[*GARDEN[:3], up(4, 1)]), Plant(down(1, 1), up(1, 6))) == "new_garden_touches_bed"


def test_a_new_garden_may_not_touch_an_own_garden() -> None:
    position = stand(8, red=[*GARDEN, down(4, 1), up(5, 1), down(5, 1)])
    assert code(position, Plant(up(4, 1), up(1, 8))) == "new_garden_touches_garden"


def test_two_flowers_that_are_legal_alone_may_be_illegal_together() -> None:
    bed = [down(1, 1), up(2, 1), down(2, 1)]
    one = stand(8, red=bed)
    two = stand(8, red=[*bed, down(4, 1), up(5, 1), down(5, 1)])
    assert code(one, Plant(up(1, 1), up(3, 1))) == "joint_bed_too_large"
    assert code(one, Plant(up(3, 1), up(4, 1))) == "joint_new_garden_touches_bed"
    assert code(two, Plant(up(3, 1), up(4, 1))) == "joint_new_garden_touches_garden"
    for position in (one, two):
        for flower in (up(1, 1), up(3, 1), up(4, 1)):
            position.check(Plant(flower, up(1, 8)))


def test_own_beds_may_touch_by_corners_and_other_sides_flowers_never_matter() -> None:
    stand(6, red=[up(1, 1)]).check(Plant(up(2, 1), up(1, 2)))
    stand(6, blue=GARDEN).check(Plant(up(1, 1), up(4, 1)))
    stand(6, red=GARDEN[:3], blue=[up(1, 1), up(4, 1)]).check(Plant(down(1, 1), up(1, 6)))


def test_a_garden_away_from_the_rim_closes_18_more_fields_to_its_owner() -> None:
    garden = [down(4, 4), up(5, 4), down(5, 4), up(6, 4)]
    position = stand(14, red=garden)
    closed = position.free & ~position.pairs().fields
    assert closed.bit_count() == 18


def test_a_ditch_joins_two_neighbouring_corners_of_own_flowers() -> None:
    position = stand(5, red=[up(1, 1), up(3, 1)], blue=[up(1, 5)])
    assert [move.ditch for move in position.legal_moves() if isinstance(move, Dig)] == [((2, 1), (3, 1))]
    assert code(position, Dig(((6, 1), (7, 1)))) == "ditch_off_board"
    assert code(position, Dig(((2, 1), (2, 1)))) == "ditch_ends_equal"
    assert code(position, Dig(((2, 1), (4, 1)))) == "ditch_too_long"
    assert code(position, Dig(((2, 1), (2, 2)))) == "ditch_without_flower"
    assert code(position, Dig(((1, 5), (1, 6)))) == "ditch_beside_flower"
    assert code(position, Dig(((1, 1), (2, 1)))) == "ditch_beside_flower"


def test_a_point_carries_one_ditch_end_of_either_side() -> None:
    own, others = [up(1, 1), up(3, 1), down(1, 2)], [up(1, 2), down(3, 1)]
    position = stand(5, red=own, ditches=[Dig(((2, 1), (3, 1)))])
    assert code(position, Dig(((2, 1), (3, 1)))) == "ditch_exists"
    assert code(position, Dig(((3, 1), (2, 2)))) == "ditch_end_taken"
    position = stand(5, red=own, blue=others, blue_ditches=[Dig(((2, 2), (3, 2)))])
    assert code(position, Dig(((2, 2), (3, 2)))) == "ditch_exists"
    assert code(position, Dig(((2, 2), (3, 1)))) == "ditch_end_taken"


def test_a_ditch_leaves_the_number_of_flowers_and_makes_no_field_plantable() -> None:
    position = stand(5, red=[up(1, 1), up(3, 1)])
    after = position.play(Dig(((2, 1), (3, 1))))
    assert after.flowers(Side.RED) == position.flowers(Side.RED)
    assert after.ditches(Side.RED) == [((2, 1), (3, 1))]
    assert after.free == position.free & ~(1 << position.board.field(up(2, 1)))


def test_gardens_by_themselves_count_one_point_each_and_connected_ones_more() -> None:
    left, right = GARDEN, [up(5, 1), down(5, 1), up(6, 1), down(6, 1)]
    apart = stand(10, red=[*left, *right])
    assert apart.score(Side.RED) == Score(2)
    assert apart.score(Side.BLUE) == Score(0)
    assert apart.play(Dig(((4, 1), (5, 1)))).score(Side.RED) == Score(3)


def test_end_is_refused_while_two_flowers_can_be_planted() -> None:
    assert code(GAME.start({"size": 3}), End()) == "end_too_early"


def test_end_is_legal_with_ditches_left_once_no_pair_is() -> None:
    position = played(
        3,
        "{{(1,1),(2,1),(1,2)},{(2,1),(1,2),(2,2)}}",
        "{{(3,1),(2,2),(3,2)},{(2,2),(1,3),(2,3)}}",
        "{{(3,1),(4,1),(3,2)},{(1,3),(2,3),(1,4)}}",
        "{{(3,2),(2,3)}}",
    )
    assert [type(move) for move in position.legal_moves()] == [Dig, Dig, End]
    ended = position.play(End())
    assert ended.outcome is not None
    assert (ended.outcome.winner, ended.outcome.reason) == (None, END_MOVE)
    assert list(ended.legal_moves()) == []
    for move in (End(), Dig(((3, 2), (2, 3))), Plant(up(1, 1), up(2, 1))):
        assert code(ended, move) == "game_over"


def test_the_game_goes_on_with_one_pair_left_that_decides_it() -> None:
    position = played(
        4,
        "{{(2,1),(1,2),(2,2)},{(2,3),(1,4),(2,4)}}",
        "{{(1,1),(2,1),(1,2)},{(3,2),(4,2),(3,3)}}",
        "{{(3,1),(4,1),(3,2)},{(1,3),(2,3),(1,4)}}",
        "{{(2,2),(3,2),(2,3)},{(3,2),(2,3),(3,3)}}",
        "{{(4,1),(3,2),(4,2)},{(4,1),(5,1),(4,2)}}",
        "{{(2,1),(3,1),(2,2)},{(1,2),(2,2),(1,3)}}",
    )
    assert position.outcome is None
    won = position.play(GAME.parse("{{(2,3),(3,3),(2,4)},{(1,4),(2,4),(1,5)}}"))
    assert won.outcome is not None
    assert (won.outcome.winner, won.outcome.reason) == (Side.RED, NO_MOVE)
    assert (won.outcome.red, won.outcome.blue) == (Score(1), Score(0))


def test_the_game_ends_at_once_when_two_fields_are_left_that_do_not_go_together() -> None:
    position = played(
        4,
        "{{(1,1),(2,1),(1,2)},{(1,2),(2,2),(1,3)}}",
        "{{(3,2),(4,2),(3,3)},{(1,3),(2,3),(1,4)}}",
        "{{(2,1),(3,1),(2,2)},{(3,1),(2,2),(3,2)}}",
        "{{(2,2),(1,3),(2,3)},{(2,3),(1,4),(2,4)}}",
        "{{(3,2),(2,3),(3,3)},{(2,3),(3,3),(2,4)}}",
        "{{(4,1),(5,1),(4,2)},{(1,4),(2,4),(1,5)}}",
    )
    assert position.outcome is not None
    assert (position.outcome.winner, position.outcome.reason) == (Side.BLUE, NO_MOVE)
    assert code(position, End()) == "game_over"


def test_what_is_no_move_of_flowerwars_is_malformed() -> None:
    for nothing in (None, "{End}", 3):
        with pytest.raises(MalformedMove):
            GAME.start({}).check(nothing)  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([(1, 1), (1, 1), (2, 1)], "flower_point_repeated"),
        ([(1, 1), (2, 1), (3, 1)], "flower_collinear"),
        ([(1, 1), (2, 2), (3, 3)], "flower_collinear"),
        ([(1, 1), (3, 1), (1, 3)], "flower_not_a_triangle"),
        ([(1, 1), (2, 1), (2, 2)], "flower_not_a_triangle"),
    ],
)
def test_three_points_that_are_no_field_make_no_flower(points: list[tuple[int, int]], expected: str) -> None:
    with pytest.raises(MalformedMove) as refused:
        Flower.at(points)
    assert refused.value.code == expected
