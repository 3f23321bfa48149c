"""Texts and wire forms of Mississippi Queen: canonical when written, doubted when read."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triarena.games import BadPosition, MalformedMove, Side
from triarena.games.mississippi_queen import GAME, Accelerate, Action, Advance, Direction, Push, Turn

numbers = st.integers(-99, 99)
directions = st.sampled_from(Direction)
actions: st.SearchStrategy[Action] = st.one_of(
    st.builds(Accelerate, numbers),
    st.builds(Turn, directions),
    st.builds(Advance, numbers),
    st.builds(Push, directions),
)
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


def start_wire() -> dict[str, Any]:
    wire: dict[str, Any] = GAME.write_position(GAME.start({}, 1))
    return wire


@given(st.lists(actions, min_size=1, max_size=64).map(tuple))
def test_a_move_survives_its_text_and_its_wire_form(move: tuple[Action, ...]) -> None:
    assert GAME.parse(GAME.format(move)) == move
    assert GAME.parse(GAME.format(move).lower().replace(" ", "\t")) == move
    assert GAME.read_move(GAME.write_move(move)) == move


def test_the_texts_are_those_of_the_original_data() -> None:
    move = (Accelerate(-1), Turn(Direction.DOWN_RIGHT), Advance(2), Push(Direction.UP_LEFT))
    assert GAME.format(move) == "A-1 TDR M2 PUL"
    assert GAME.write_move(move) == {
        "type": "actions",
        "actions": [
            {"type": "accelerate", "by": -1},
            {"type": "turn", "to": "down_right"},
            {"type": "advance", "distance": 2},
            {"type": "push", "to": "up_left"},
        ],
    }


@pytest.mark.parametrize(
    "text",
    ["", " ", "A", "A1.0", "A+1", "A01", "A-0", "A100", "M٣", "T", "TX", "T R", "M1,M2", "M1M2", "X1", "M1 " * 65],
)
def test_a_text_that_is_no_move_is_malformed(text: str) -> None:
    with pytest.raises(MalformedMove):
        GAME.parse(text)


def test_an_empty_list_of_actions_is_a_move_but_never_a_legal_one() -> None:
    assert GAME.read_move({"type": "actions", "actions": []}) == ()


@pytest.mark.parametrize(
    "action",
    [
        {"type": "accelerate", "by": True},
        {"type": "accelerate", "by": 1.0},
        {"type": "accelerate", "by": 100},
        {"type": "advance", "distance": -100},
        {"type": "advance", "distance": 10**5000},
        {"type": "advance"},
        {"type": "turn", "to": 1},
        {"type": "turn", "to": "RIGHT"},
        {"type": "push", "to": ["right"]},
        {"type": ["push"], "to": "right"},
        {"type": "jump"},
        [],
        None,
    ],
)
def test_a_wire_form_with_a_wrong_action_is_malformed(action: Any) -> None:
    with pytest.raises(MalformedMove):
        GAME.read_move({"type": "actions", "actions": [{"type": "advance", "distance": 1}, action]})


def test_more_than_64_actions_are_malformed() -> None:
    actions = [{"type": "advance", "distance": 1}] * 64
    assert len(GAME.read_move({"type": "actions", "actions": actions})) == 64
    with pytest.raises(MalformedMove, match="64"):
        GAME.read_move({"type": "actions", "actions": actions * 1000})


@given(junk)
def test_junk_is_malformed_as_a_move_and_bad_as_a_position(value: Any) -> None:
    with pytest.raises(MalformedMove):
        GAME.read_move(value)
    with pytest.raises(MalformedMove):
        GAME.read_move({"type": "actions", "actions": [value]})
    with pytest.raises(BadPosition):
        GAME.read_position(value)


@given(st.data())
def test_junk_anywhere_in_a_position_is_refused_or_harmless(data: st.DataObject) -> None:
    wire = start_wire()
    place: Any = wire
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], dict | list) or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(junk)
    try:
        position = GAME.read_position(wire)
    except BadPosition as error:
        sentence = str(error)
    else:
        assert GAME.read_position(GAME.write_position(position)) == position
        return
    assert "\n" not in sentence
    assert len(sentence) < 300


def test_the_wire_form_of_the_start_is_canonical() -> None:
    wire = start_wire()
    assert list(wire) == [
        *("game", "rules", "sandbanks", "segments", "next_direction", "turn", "to_move", "red", "blue", "outcome"),
    ]
    assert (wire["game"], wire["rules"], wire["sandbanks"], wire["turn"]) == ("mississippi_queen", "seed", 0, 0)
    assert (wire["to_move"], wire["outcome"], len(wire["segments"])) == ("red", None, 2)
    assert wire["segments"][0] == {"direction": "right", "center": [0, 0, 0], "columns": ["WWWWW"] * 4}
    assert wire["red"] == {
        "position": [-1, -1, 2],
        "direction": "right",
        "speed": 1,
        "coal": 6,
        "passengers": 0,
        "free_turns": 1,
        "points": 0,
    }


def test_hidden_segments_are_absent() -> None:
    position = GAME.start({}, 1)
    assert GAME.read_position(GAME.write_position(position)) == position.visible() != position
    assert len(position.beyond) == 6
    assert position.visible().beyond == ()


def test_unknown_keys_are_ignored_and_a_missing_outcome_counts_as_null() -> None:
    wire = start_wire()
    del wire["outcome"]
    wire["colour"] = wire["red"]["colour"] = wire["segments"][0]["colour"] = ["blue"]
    assert GAME.read_position(wire) == GAME.start({}, 1).visible()


def test_the_outcome_of_a_finished_position_must_follow_from_it() -> None:
    wire = {**start_wire(), "turn": 60}
    position = GAME.read_position(wire)
    assert position.outcome is not None
    written = GAME.write_position(position)["outcome"]
    assert written == {
        "winner": None,
        "reason": "round_limit",
        "scores": {"red": 0, "blue": 0},
        "passengers": {"red": 0, "blue": 0},
    }
    assert GAME.read_position({**wire, "outcome": written}) == position
    with pytest.raises(BadPosition, match="outcome"):
        GAME.read_position({**wire, "outcome": {**written, "winner": "red"}})


def change(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def spoil(wire: dict[str, Any]) -> None:
        place: Any = wire
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = to

    return spoil


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (change("game", to="towerwars"), "mississippi_queen"),
        (change("rules", to="other"), "rules"),
        (change("sandbanks", to=3), "sandbanks"),
        (change("segments", to=[]), "segments"),
        (change("segments", to=[None] * 100_000), "segments"),
        (change("segments", 1, "direction", to="left"), "bend"),
        (change("segments", 1, "center", to=[4, 0, -5]), "center"),
        (change("segments", 1, "columns", to=["WWWWW"] * 3), "columns"),
        (change("segments", 1, "columns", 0, to="WWWWWW"), "column"),
        (change("segments", 1, "columns", 0, to="WWXWW"), "column"),
        (change("segments", 1, "columns", 0, to="WWGWW"), "goal"),
        (change("segments", 1, "columns", 0, to="WWSWW"), "sandbanks"),
        (change("next_direction", to=None), "next_direction"),
        (change("next_direction", to="left"), "next_direction"),
        (change("turn", to=61), "turn"),
        (change("turn", to=True), "turn"),
        (change("to_move", to="green"), "to_move"),
        (change("red", to=None), "red"),
        (change("red", "position", to=[-1, -1, 3]), "red"),
        (change("red", "position", to=[-1, -1]), "position"),
        (change("red", "position", to=[10**400, -(10**400), 0]), "red"),
        (change("red", "position", to=[30, 0, -30]), "outside"),
        (change("red", "position", to=[-2, 1, 1]), "both ships"),
        (change("red", "speed", to=0), "speed"),
        (change("red", "coal", to=7), "coal"),
        (change("red", "passengers", to=-1), "passengers"),
        (change("red", "free_turns", to=0), "free_turns"),
        (change("red", "points", to=1), "points"),
        (change("red", "points", to=False), "points"),
        (change("outcome", to={"winner": "red"}), "outcome"),
    ],
)
def test_an_inconsistent_position_is_refused_with_a_sentence(
    spoil: Callable[[dict[str, Any]], None], says: str
) -> None:
    wire = start_wire()
    spoil(wire)
    with pytest.raises(BadPosition, match=says):
        GAME.read_position(wire)


def test_a_ship_on_a_sandbank_has_speed_one() -> None:
    wire = copy.deepcopy({**start_wire(), "sandbanks": 1})
    wire["segments"][0]["columns"][0] = "WSWWW"
    assert GAME.read_position(wire).to_move is Side.RED
    wire["red"]["speed"] = 2
    with pytest.raises(BadPosition, match="sandbank"):
        GAME.read_position(wire)


def test_who_was_fetched_survives_the_wire() -> None:
    rng = random.Random(4)
    fetched = 0
    for seed in range(60):
        position = GAME.start({}, seed)
        while position.outcome is None:
            position = position.play(rng.choice([*position.legal_moves()]))
            fetched += position.taken > 0
            assert GAME.read_position(GAME.write_position(position)) == position.visible()
    assert fetched > 0


def test_a_drawn_end_is_read_although_messages_leave_out_the_winner_that_there_is_none() -> None:
    rng, drawn = random.Random(3), 0
    for seed in range(40):
        position = GAME.start({}, seed)
        while position.outcome is None:
            position = position.play(rng.choice([*position.legal_moves()]))
        if position.outcome.winner is None:
            wire: Any = GAME.write_position(position)
            del wire["outcome"]["winner"]
            assert GAME.read_position(wire).outcome == position.outcome
            drawn += 1
    assert drawn > 0
