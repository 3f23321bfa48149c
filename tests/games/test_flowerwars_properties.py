"""Properties of FlowerWars that hold in every position, against a slow reading of the rules with sets of points."""

from __future__ import annotations

from contextlib import suppress
from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from triarena.games.core import BadPosition, MalformedMove, MoveError, Side
from triarena.games.flowerwars import GAME, Dig, End, Flower, FlowerWarsPosition, Move, Plant, Plot


@st.composite
def positions(draw: st.DrawFn, largest: int = 6) -> FlowerWarsPosition:
    """Positions reached by play that likes to build gardens and ditches, up to the end of the game."""
    position = GAME.start({"size": draw(st.integers(3, largest))})
    for choice in draw(st.lists(st.integers(0, 10**6), max_size=24)):
        moves = list(position.legal_moves())
        if not moves:
            break
        digs: list[Move] = [move for move in moves if isinstance(move, Dig)]
        near: list[Move] = [move for move in moves if isinstance(move, Plant) and touches_own(position, move)]
        moves = digs if digs and choice % 5 == 0 else near if near and choice % 3 else moves
        position = position.play(moves[choice % len(moves)])
    return position


def touches_own(position: FlowerWarsPosition, move: Plant) -> bool:
    own = position.flowers(position.to_move)
    return all(any(beside(flower, other) for other in own) for flower in move.flowers)


def beside(one: Flower, other: Flower) -> bool:
    return len(set(one.points) & set(other.points)) == 2


def beds_of(flowers: set[Flower]) -> list[set[Flower]]:
    beds: list[set[Flower]] = []
    for flower in flowers:
        joined = {flower}.union(*(bed for bed in beds if any(beside(flower, other) for other in bed)))
        beds = [bed for bed in beds if not bed & joined] + [joined]
    return beds


def corners(flowers: set[Flower]) -> set[tuple[int, int]]:
    return {point for flower in flowers for point in flower.points}


def allowed_slowly(position: FlowerWarsPosition, flowers: tuple[Flower, Flower]) -> bool:
    """Section "Gärten" of the rules, read literally."""
    taken = {flower for side in Side for flower in position.flowers(side)}
    ditches = [set(ditch) for side in Side for ditch in position.ditches(side)]
    if any(flower in taken or any(ditch < set(flower.points) for ditch in ditches) for flower in flowers):
        return False
    beds = beds_of({*position.flowers(position.to_move), *flowers})
    return all(len(bed) <= 4 for bed in beds) and not any(
        corners(bed) & corners(other) for bed in beds if len(bed) == 4 for other in beds if other is not bed
    )


def diggable_slowly(position: FlowerWarsPosition) -> set[Dig]:
    """Section "Gräben" of the rules, read literally."""
    taken = [set(flower.points) for side in Side for flower in position.flowers(side)]
    ends = {point for side in Side for ditch in position.ditches(side) for point in ditch}
    points = corners(set(position.flowers(position.to_move))) - ends
    edges = {side for flower in position.board.flowers for side in combinations(flower.points, 2)}
    return {Dig(edge) for edge in edges if set(edge) <= points and not any(set(edge) < flower for flower in taken)}


def points_slowly(position: FlowerWarsPosition, side: Side) -> int:
    """Section "Spielende" of the rules, read literally."""
    groups = [[bed] for bed in beds_of(set(position.flowers(side)))]
    for ditch in position.ditches(side):
        joined = [group for group in groups if any(corners(bed) & set(ditch) for bed in group)]
        groups = [group for group in groups if group not in joined] + [[bed for group in joined for bed in group]]
    gardens = [sum(len(bed) == 4 for bed in group) for group in groups]
    return sum(k * (k + 1) // 2 for k in gardens)


@given(positions())
@settings(max_examples=150, deadline=None)
def test_the_legal_moves_are_those_of_a_literal_reading(position: FlowerWarsPosition) -> None:
    legal = list(position.legal_moves())
    assert len(legal) == len(set(legal))
    if position.outcome is not None:
        assert legal == []
        return
    pairs = {Plant(*two) for two in combinations(position.board.flowers, 2) if allowed_slowly(position, two)}
    digs = diggable_slowly(position)
    assert {move for move in legal if isinstance(move, Plant)} == pairs
    assert {move for move in legal if isinstance(move, Dig)} == digs
    assert (End() in legal) == (not pairs)
    assert pairs or digs


@given(positions())
@settings(max_examples=60, deadline=None)
def test_check_allows_just_the_legal_moves(position: FlowerWarsPosition) -> None:
    moves: list[Move] = [Plant(*two) for two in combinations(position.board.flowers, 2)]
    moves += [*position.board.digs.values(), End()]
    legal = set(position.legal_moves())
    for move in moves:
        try:
            position.check(move)
        except MoveError:
            assert move not in legal
        else:
            assert move in legal


@given(positions(largest=8))
@settings(max_examples=150, deadline=None)
def test_the_points_are_those_of_a_literal_reading(position: FlowerWarsPosition) -> None:
    for side in Side:
        assert position.score(side).points == points_slowly(position, side)


@given(positions())
@settings(max_examples=100, deadline=None)
def test_a_game_is_over_just_when_the_side_to_move_has_no_move_or_played_end(position: FlowerWarsPosition) -> None:
    assert (position.outcome is None) == any(True for _ in position.legal_moves())
    if position.outcome is not None:
        red, blue = (position.score(side).points for side in Side)
        assert (position.outcome.red.points, position.outcome.blue.points) == (red, blue)
        assert position.outcome.winner == (Side.RED if red > blue else Side.BLUE if blue > red else None)


@given(positions())
@settings(max_examples=100, deadline=None)
def test_moves_survive_text_and_wire(position: FlowerWarsPosition) -> None:
    for move in position.legal_moves():
        assert GAME.parse(GAME.format(move)) == move
        assert GAME.read_move(GAME.write_move(move)) == move


def everything(position: FlowerWarsPosition) -> list[Any]:
    """Also what equality leaves out because it follows from the rest."""

    def parts(plot: Plot) -> list[int]:
        return [plot.flowers, plot.ditches, plot.gardens, plot.corners, plot.border, plot.closed]

    own = [position.to_move, position.outcome, position.free, position.banks, position.ends, position.can_plant]
    return [*own, parts(position.red), parts(position.blue)]


@given(positions())
@settings(max_examples=150, deadline=None)
def test_what_a_position_carries_along_is_what_is_found_afresh(position: FlowerWarsPosition) -> None:
    again = GAME.read_position(GAME.write_position(position))
    assert again == position
    assert hash(again) == hash(position)
    assert everything(again) == everything(position)


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 40) | st.floats() | st.text("rb./{}(1,2)End", max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(plain, st.sampled_from(["plant", "dig", "end", None]), st.sampled_from(["flowers", "ditch", "type"]))
def test_garbage_never_raises_anything_but_malformed_move(value: Any, kind: Any, key: str) -> None:
    for wire in (value, {"type": kind, key: value}):
        with suppress(MalformedMove):
            assert isinstance(GAME.read_move(wire), Plant | Dig | End)
    with suppress(MalformedMove):
        assert isinstance(GAME.parse(str(value)), Plant | Dig | End)


@given(plain, positions(), st.sampled_from(["game", "size", "to_move", "fields", "red_ditches", "points", "outcome"]))
@settings(max_examples=200, deadline=None)
def test_garbage_never_raises_anything_but_bad_position(value: Any, position: FlowerWarsPosition, key: str) -> None:
    for wire in (value, GAME.write_position(position) | {key: value}):
        with suppress(BadPosition):
            assert isinstance(GAME.read_position(wire), FlowerWarsPosition)
