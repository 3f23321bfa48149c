"""Texts and wire forms of FlowerWars: canonical when written, checked when read."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from triarena.games.core import BadPosition, IllegalMove, MalformedMove, Side
from triarena.games.flowerwars import GAME, Dig, End, Flower, FlowerWarsPosition, Plant

PLANT = "{{(1,1),(2,1),(1,2)},{(2,1),(1,2),(2,2)}}"
PLANT_WIRE = {"type": "plant", "flowers": [[[1, 1], [2, 1], [1, 2]], [[2, 1], [1, 2], [2, 2]]]}


def figure() -> FlowerWarsPosition:
    """Two red flowers and a blue one; red's ditch leaves one field each infertile."""
    position = GAME.start({"size": 3})
    for move in (
        "{{(1,1),(2,1),(1,2)},{(2,1),(3,1),(2,2)}}",
        "{{(1,3),(2,3),(1,4)},{(2,2),(3,2),(2,3)}}",
        "{{(1,2),(2,2)}}",
    ):
        position = position.play(GAME.parse(move))
    return position


def test_texts_are_those_of_the_original_program() -> None:
    assert GAME.format(Plant(Flower(1, 1, up=False), Flower(1, 1, up=True))) == PLANT
    assert GAME.format(Dig(((4, 1), (3, 1)))) == "{{(3,1),(4,1)}}"
    assert GAME.format(End()) == "{End}"


@pytest.mark.parametrize(
    "text",
    [
        PLANT,
        "{{(2,1),(1,2),(2,2)},{(1,1),(2,1),(1,2)}}",
        "{{(2,2),(1,2),(2,1)},{(1,2),(2,1),(1,1)}}",
        " { { ( 1 , 1 ) , (2,1),(1,2)}, {(2,1), (1,2),(2,2) } } ",
        "{{(01,1),(2,1),(1,2)},{(2,1),(1,2),(2,2)}}",
    ],
)
def test_points_flowers_and_blanks_may_come_in_any_order(text: str) -> None:
    assert GAME.format(GAME.parse(text)) == PLANT


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{}",
        "End",
        "{end}",
        "{End}\n",
        "{E nd}",
        "{{(3,1),(4,1)}",
        "{(3,1),(4,1)}",
        "{{(3,1)(4,1)}}",
        "{{(3,1),(4,1)}}x",
        "{{(3,1),(4 1,1)}}",
        "{{(3,1),(-4,1)}}",
        "{{(3,1),(+4,1)}}",
        "{{(3,1),(٤,1)}}",
        "{{(1,1),(2,1),(1,2)}}",
        f"{PLANT}{PLANT}",
        "{{(1234567890,1),(4,1)}}",
        "{{(3,1),(4,1)}}" + " " * 5 + "\t",
        "(" * 5_000,
    ],
)
def test_anything_else_is_no_move(text: str) -> None:
    with pytest.raises(MalformedMove) as refused:
        GAME.parse(text)
    assert refused.value.code == "malformed_move"
    assert len(refused.value.message) < 250


def test_surrender_is_no_move_of_the_rules() -> None:
    with pytest.raises(MalformedMove, match="referee") as refused:
        GAME.parse("{Surrender}")
    assert refused.value.code == "surrender_is_no_move"


def test_wire_forms_of_moves_are_canonical_when_written() -> None:
    assert GAME.write_move(GAME.parse(PLANT)) == PLANT_WIRE
    assert GAME.write_move(Dig(((4, 1), (3, 1)))) == {"type": "dig", "ditch": [[3, 1], [4, 1]]}
    assert GAME.write_move(End()) == {"type": "end"}


def test_wire_forms_of_moves_may_come_in_any_order() -> None:
    mixed = {"type": "plant", "flowers": [[[2, 2], [2, 1], [1, 2]], [[1, 2], [1, 1], [2, 1]]], "comment": "mine"}
    assert GAME.read_move(mixed) == GAME.parse(PLANT)
    assert GAME.read_move({"type": "dig", "ditch": [[4, 1], [3, 1]]}) == Dig(((3, 1), (4, 1)))


POINT = [1, 1]


@pytest.mark.parametrize(
    "wire",
    [
        None,
        7,
        "plant",
        [],
        {},
        {"type": "surrender"},
        {"type": []},
        {"type": "plant"},
        {"type": "plant", "flowers": {}},
        {"type": "plant", "flowers": "ab"},
        {"type": "plant", "flowers": [[POINT, POINT, POINT]]},
        {"type": "plant", "flowers": [[POINT, [2, 1], [1, 2]], [POINT, [2, 1]]]},
        {"type": "plant", "flowers": [[POINT, [2, 1], [1, 2]], [POINT, [2, 1], [1, True]]]},
        {"type": "plant", "flowers": [[POINT, [2, 1], [1, 2]], [POINT, [2, 1], [1, 2.0]]]},
        {"type": "plant", "flowers": [[POINT, [2, 1], [1, 2]], [POINT, [2, 1], [1, "2"]]]},
        {"type": "plant", "flowers": [[POINT, [2, 1], [1, 2]], [POINT, [2, 1], [1, {}]]]},
        {"type": "plant", "flowers": [[POINT, [2, 1], [1, 2]], [POINT, [2, 1], [1]]]},
        {"type": "plant", "flowers": [[POINT] * 100_000] * 2},
        {"type": "plant", "flowers": [[POINT, [2, 1], [1, 2]], [[-1, 1], [0, 1], [-1, 2]]]},
        {"type": "dig"},
        {"type": "dig", "ditch": [POINT]},
        {"type": "dig", "ditch": [POINT, [10**5000, 1]]},
        {"type": "dig", "ditch": [POINT, [float("nan"), 1]]},
        {"type": "dig", "ditch": [POINT, POINT, POINT]},
    ],
)
def test_garbage_is_no_move(wire: Any) -> None:
    with pytest.raises(MalformedMove) as refused:
        GAME.read_move(wire)
    assert len(refused.value.message) < 250


def test_a_flower_off_the_board_is_a_move_and_an_illegal_one() -> None:
    move = GAME.read_move({"type": "plant", "flowers": [[[40, 1], [41, 1], [40, 2]], [[1, 1], [2, 1], [1, 2]]]})
    with pytest.raises(IllegalMove, match="size 8") as refused:
        GAME.start({}).check(move)
    assert refused.value.code == "flower_off_board"


def test_a_position_has_a_text_per_row_from_below() -> None:
    assert GAME.write_position(figure()) == {
        "game": "flowerwars",
        "size": 3,
        "to_move": "blue",
        "fields": "r.r../..b/b",
        "red_ditches": [[[1, 2], [2, 2]]],
        "blue_ditches": [],
        "points": {"red": 0, "blue": 0},
        "outcome": None,
    }


def test_a_position_that_was_read_is_the_same_and_plays_on_alike() -> None:
    position = figure()
    again = GAME.read_position(GAME.write_position(position) | {"comment": [1]})
    assert again == position
    assert list(again.legal_moves()) == list(position.legal_moves())


def test_points_and_outcome_may_be_missing() -> None:
    wire = GAME.write_position(figure())
    del wire["points"], wire["outcome"]
    assert GAME.read_position(wire) == figure()


def over_by_end() -> FlowerWarsPosition:
    position = GAME.start({"size": 3})
    for move in (
        "{{(1,1),(2,1),(1,2)},{(2,1),(1,2),(2,2)}}",
        "{{(3,1),(2,2),(3,2)},{(2,2),(1,3),(2,3)}}",
        "{{(3,1),(4,1),(3,2)},{(1,3),(2,3),(1,4)}}",
        "{{(3,2),(2,3)}}",
        "{End}",
    ):
        position = position.play(GAME.parse(move))
    return position


def test_an_end_by_end_is_told_by_the_outcome_only() -> None:
    wire = GAME.write_position(over_by_end())
    assert wire["outcome"] == {"winner": None, "reason": "end_move", "scores": {"red": 0, "blue": 0}}
    assert GAME.read_position(wire) == over_by_end()
    assert GAME.read_position(wire | {"outcome": None}).outcome is None


def test_a_board_on_which_the_side_to_move_has_no_move_is_over_whatever_it_says() -> None:
    position = GAME.start({"size": 3})
    while position.outcome is None:
        position = position.play(next(position.legal_moves()))
    told = GAME.write_position(position)
    assert told["outcome"]["reason"] == "no_move"
    assert GAME.read_position(told | {"outcome": None}) == position


def change(**changes: Any) -> dict[str, Any]:
    wire: dict[str, Any] = copy.deepcopy(GAME.write_position(figure()))
    return wire | changes


DITCH = [[1, 2], [2, 2]]
FORKED = {
    "game": "flowerwars",
    "size": 5,
    "to_move": "blue",
    "fields": "........./..r..r./...../.../.",
    "red_ditches": [[[2, 3], [3, 3]], [[3, 2], [3, 3]]],
    "blue_ditches": [],
}
"""Each of the two ditches could be there, but not both."""


@pytest.mark.parametrize(
    ("wire", "sentence"),
    [
        (None, "map"),
        ([], "map"),
        ({}, "game"),
        (change(game="chess"), "game"),
        (change(game=["flowerwars"]), "game"),
        (change(size=2), "size"),
        (change(size=31), "size"),
        (change(size=True), "size"),
        (change(size=4), "fields"),
        (change(to_move="green"), "to_move"),
        (change(to_move=["red"]), "to_move"),
        (change(fields=None), "fields"),
        (change(fields="r.r../..b/x"), "'x'"),
        (change(fields="r.r.../.b/b"), "rows"),
        (change(fields="r" * 1_000_000), "fields"),
        (change(fields="rrrrr/..b/b"), "too large"),
        (change(fields="rrrr./r.b/b"), "too large"),
        (change(fields="bbbbb/..r/r", red_ditches=[]), "blue's bed"),
        (change(fields="r...r/rrr/r"), "touches"),
        (change(fields="rr.../..b/b"), "without a flower|beside"),
        (change(red_ditches=None), "red_ditches"),
        (change(red_ditches=[DITCH] * 100_000), "red_ditches"),
        (change(red_ditches=[DITCH, DITCH]), "twice"),
        (change(red_ditches=[[[1, 2]]]), "red_ditches"),
        (change(red_ditches=[[[1, 2], [2, 3]]]), "no edge"),
        (change(red_ditches=[[[1, 2], [2, True]]]), "whole number"),
        (change(red_ditches=[[[1, 1], [2, 1]]]), "flower beside"),
        (change(red_ditches=[], blue_ditches=[DITCH]), "without a flower of blue"),
        (change(red_ditches=[DITCH, [[1, 2], [1, 3]]]), "without a flower of red"),
        (FORKED, "shares an end"),
        (change(points={"red": 1, "blue": 0}), "points"),
        (change(points={"red": False, "blue": 0}), "points"),
        (change(points=[]), "points"),
        (change(outcome={"winner": None, "reason": "end_move", "scores": {"red": 0, "blue": 0}}), "can plant"),
        (GAME.write_position(over_by_end()) | {"outcome": {"winner": "red"}}, "outcome"),
        (GAME.write_position(over_by_end()) | {"outcome": "draw"}, "outcome"),
    ],
)
def test_what_is_no_position_is_refused_with_a_sentence(wire: Any, sentence: str) -> None:
    with pytest.raises(BadPosition, match=sentence) as refused:
        GAME.read_position(wire)
    assert len(str(refused.value)) < 400


def test_deeply_nested_garbage_is_refused_like_any_other() -> None:
    nest: Any = []
    for _ in range(100_000):
        nest = [nest]
    for wire in (change(points=nest), change(outcome=nest), change(red_ditches=nest), change(size=nest)):
        with pytest.raises(BadPosition):
            GAME.read_position(wire)
    with pytest.raises(MalformedMove):
        GAME.read_move({"type": nest})


def test_everybody_sees_everything() -> None:
    assert figure().visible() == figure()
    assert figure().flowers(Side.BLUE) == [Flower(2, 2, up=True), Flower(1, 3, up=True)]
