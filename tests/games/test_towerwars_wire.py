"""Texts and wire forms of TowerWars: what is read, and that everything else is refused with a sentence."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triarena.games.core import BadPosition, MalformedMove, Plain
from triarena.games.towerwars import GAME, Step, TowerWarsPosition

START: dict[str, Any] = {
    "game": "towerwars",
    "size": 4,
    "to_move": "red",
    "board": "Rrr./rr.b/r.bb/.bbB R",
    "outcome": None,
}
WON: dict[str, Any] = {
    "game": "towerwars",
    "size": 4,
    "to_move": "red",
    "board": "b.../.r../..../...B R",
    "outcome": {"winner": "blue", "reason": "base", "scores": {"red": 0, "blue": 1}},
}

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
garbage = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner))


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


HOPELESS = [nested(100_000), 10**10_000, {"a": nested(100_000)}, "x" * 100_000, {1, 2}, object(), float("nan")]


# Move texts


@pytest.mark.parametrize("text", ["A1->B2", "a1->b2", "  A1->B2 "])
def test_case_and_surrounding_blanks_of_a_move_do_not_matter(text: str) -> None:
    assert GAME.parse(text) == Step("A1", "B2")


def test_the_canonical_text_of_a_move() -> None:
    assert GAME.format(Step("Z26", "A1")) == str(Step("Z26", "A1")) == "Z26->A1"


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "->", "A1", "A1->", "->B2", "A27->B1", "A0->B1", "A01->B1", "A1->B2->C3", "A1-> B2", "A1 B2"),
        *("AA1->B2", "1A->B2", "Ä1->B2", "ı1->B2", "A¹->B2", "A１->B2", "A1->B2\n", "\0", "x" * 100_000, "->" * 50_000),
    ],
)
def test_any_other_text_is_no_move(text: str) -> None:
    with pytest.raises(MalformedMove) as caught:
        GAME.parse(text)
    assert caught.value.code == "malformed_move"
    assert len(caught.value.message) < 200


@settings(deadline=None)
@given(st.text())
def test_every_text_is_a_move_or_malformed(text: str) -> None:
    try:
        move = GAME.parse(text)
    except MalformedMove:
        return
    assert GAME.parse(GAME.format(move)) == move


# Moves on the wire


def test_the_wire_form_of_a_move() -> None:
    wire = {"type": "step", "start": "A1", "target": "B2"}
    assert GAME.write_move(Step("A1", "B2")) == wire
    assert GAME.read_move(wire) == Step("A1", "B2")
    assert GAME.read_move(wire | {"comment": "unknown keys are for newer readers"}) == Step("A1", "B2")


@pytest.mark.parametrize(
    "wire",
    [
        *(None, [], "A1->B2", {}, {"type": "step"}, {"type": "step", "start": "A1"}),
        *({"type": kind, "start": "A1", "target": "B2"} for kind in ("hop", ["step"], None, *HOPELESS)),
        *(
            {"type": "step", "start": start, "target": "B2"}
            for start in ("a1", "A01", "A27", "", 1, None, ["A1"], True)
        ),
        *({"type": "step", "start": "A1", "target": target} for target in HOPELESS),
        *HOPELESS,
    ],
    ids=lambda wire: type(wire).__name__,
)
def test_any_other_wire_form_is_no_move(wire: Plain) -> None:
    with pytest.raises(MalformedMove) as caught:
        GAME.read_move(wire)
    assert len(caught.value.message) < 200


@settings(deadline=None)
@given(garbage | st.fixed_dictionaries({"type": st.just("step"), "start": garbage, "target": garbage}))
def test_reading_a_move_raises_nothing_but_malformed_move(wire: Plain) -> None:
    try:
        move = GAME.read_move(wire)
    except MalformedMove:
        return
    assert GAME.read_move(GAME.write_move(move)) == move


# Positions


def test_the_wire_form_of_a_position() -> None:
    assert GAME.write_position(TowerWarsPosition.start(4)) == START
    assert GAME.read_position(START) == TowerWarsPosition.start(4)


def test_the_wire_form_of_a_won_position() -> None:
    assert GAME.write_position(GAME.read_position(WON)) == WON


def test_unknown_keys_are_ignored_and_a_missing_outcome_is_null() -> None:
    without = {key: value for key, value in START.items() if key != "outcome"}
    assert GAME.read_position(without | {"comment": [1, 2]}) == TowerWarsPosition.start(4)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"game": "flowerwars"}, "game must be 'towerwars'"),
        ({"size": 5}, "size must be 4"),
        ({"size": 4.0}, "size must be 4"),
        ({"to_move": "blue"}, "to_move must be 'red'"),
        ({"to_move": None}, "to_move must be 'red'"),
        ({"board": 7}, "board must be a position text"),
        ({"outcome": WON["outcome"]}, "the outcome must be null"),
        ({"outcome": False}, "the outcome must be null"),
        ({"outcome": {}}, "the outcome must be null"),
    ],
)
def test_a_position_must_agree_with_its_board(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadPosition, match=sentence):
        GAME.read_position(START | changes)


@pytest.mark.parametrize(
    "outcome",
    [
        *(None, "base", WON["outcome"] | {"winner": "red"}, WON["outcome"] | {"winner": None}),
        *(WON["outcome"] | {"reason": "no_move"}, WON["outcome"] | {"scores": {"red": 1, "blue": 0}}),
        *(WON["outcome"] | {"scores": {"red": False, "blue": True}}, WON["outcome"] | {"scores": [0, 1]}),
    ],
)
def test_an_outcome_must_be_what_the_board_shows(outcome: Plain) -> None:
    with pytest.raises(BadPosition, match="the outcome must be a win of blue by 'base'"):
        GAME.read_position(WON | {"outcome": outcome})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "ends with a space and R or B"),
        ("Rrr./rr.b/r.bb/.bbB", "ends with a space and R or B"),
        ("Rrr./rr.b/r.bb/.bbB r", "ends with a space and R or B"),
        ("R../.../..B R", "4 to 26 rows"),
        ("/" * 100_000 + " R", "4 to 26 rows"),
        ("Rrr./rr.b/r.bb/.bb R", "row 4 has 3 fields"),
        ("Rrr./rr.b/r.bb/" + "." * 100_000 + " R", "row 4 has 100000 fields"),
        ("Rrr./rr?b/r.bb/.bbB R", "row 2 'rr[?]b' holds something else"),
        ("Rrr0./rr.b/r.bb/.bbB R", "row 1"),
        ("Rrx./rr.b/r.bb/.bbB R", "row 1"),
        ("Rrr2./rr.b/r.bb/.bbB R", "the tower r2 on C1 is too high"),
        (".rr./rr.b/r.bb/.bbB R", "on A1 stands . instead of the red base"),
        ("Rrr./rr.b/r.bb/.bb. R", "on D4 stands . instead of the blue base"),
        ("Rrr./rrRb/r.bb/.bbB R", "the red base stands on C2, but its place is A1"),
        ("Brr./rr.b/r.bb/.bbR R", "base stands on"),
        ("brr./rr.b/r.bb/.bbB B", "on A1 stands b instead of the red base"),
        ("b1rr./rr.b/r.bb/.bbB R", "on A1 stands b1 instead of the red base"),
        ("brr./rr.b/r.bb/.bbr R", "on D4 stands r instead of the blue base"),
    ],
)
def test_a_text_that_is_no_position_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BadPosition, match=sentence) as caught:
        TowerWarsPosition.from_text(text)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("key", START)
@pytest.mark.parametrize("value", HOPELESS, ids=lambda value: type(value).__name__)
def test_no_value_is_too_strange_to_be_refused(key: str, value: Any) -> None:
    with pytest.raises(BadPosition):
        GAME.read_position(START | {key: value})


@settings(deadline=None)
@given(garbage | st.fixed_dictionaries({key: st.just(value) | garbage for key, value in WON.items()}))
def test_reading_a_position_raises_nothing_but_bad_position(wire: Plain) -> None:
    try:
        position = GAME.read_position(wire)
    except BadPosition:
        return
    assert GAME.read_position(GAME.write_position(position)) == position


@settings(deadline=None)
@given(st.text(alphabet="RBrb.x123/ ", max_size=40))
def test_every_text_is_a_position_or_refused(text: str) -> None:
    try:
        position = TowerWarsPosition.from_text(text)
    except BadPosition:
        return
    assert position.to_text() == text
