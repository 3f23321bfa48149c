"""What holds in every position of TowerWars, tried on positions made at random and on random games."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from triarena.games.core import IllegalMove, Side
from triarena.games.towerwars import GAME, Step, TowerWarsPosition, distance
from triarena.games.towerwars.board import board_of, ring

untimed = settings(deadline=None)  # the first example of a size pays for its tables


@st.composite
def positions(draw: st.DrawFn) -> TowerWarsPosition:
    """Any position that can be written down, most of them crowded, many of them unreachable."""
    size = draw(st.integers(4, 7))
    towers = [
        f"{side}{height}{blocked}" for side in "rb" for height in range(1, size // 3 + 1) for blocked in ("", "x")
    ]
    content = st.sampled_from([".", ".", "r", "b", *towers])
    rows = [[draw(content) for _ in range(size)] for _ in range(size)]
    rows[0][0], rows[-1][-1] = "R", "B"
    return TowerWarsPosition.from_text("/".join("".join(row) for row in rows) + draw(st.sampled_from([" R", " B"])))


def random_game(size: int, seed: int, plies: int = 300) -> Iterator[TowerWarsPosition]:
    rng, position = random.Random(seed), TowerWarsPosition.start(size)
    for _ in range(plies):
        yield position
        if position.outcome is not None:
            break
        position = position.play(rng.choice(list(position.legal_moves())))


def turned(position: TowerWarsPosition) -> TowerWarsPosition:
    """The board turned by half a circle, with the colours exchanged."""
    board, letter = position.to_text().split(" ")
    rows = [[text[::-1] for text in _cells(row[::-1])] for row in reversed(board.split("/"))]
    text = "/".join("".join(row) for row in rows) + " " + letter
    return TowerWarsPosition.from_text(text.translate(str.maketrans("RBrb", "BRbr")))


def _cells(reversed_row: str) -> Iterator[str]:
    """The texts of the fields of a row that was reversed as a whole, each reversed."""
    text = ""
    for character in reversed_row:
        text += character
        if character not in "x12345678":
            yield text
            text = ""


def turned_move(size: int, move: Step) -> Step:
    fields = board_of(size).fields
    index = board_of(size).index
    return Step(fields[-1 - index[move.start]], fields[-1 - index[move.target]])


@untimed
@given(positions())
def test_exactly_the_listed_moves_pass_the_check(position: TowerWarsPosition) -> None:
    listed = list(position.legal_moves())
    assert len(listed) == len(set(listed))
    assert listed == list(position.legal_moves())
    fields = board_of(position.size).fields
    passed = {move for start in fields for target in fields if passes(position, move := Step(start, target))}
    assert passed == set(listed)


def passes(position: TowerWarsPosition, move: Step) -> bool:
    try:
        position.check(move)
    except IllegalMove:
        return False
    return True


@untimed
@given(positions())
def test_the_game_goes_on_exactly_as_long_as_there_is_a_move(position: TowerWarsPosition) -> None:
    assert (position.outcome is None) == any(True for _ in position.legal_moves())


@untimed
@given(positions())
def test_both_sides_play_by_the_same_rules(position: TowerWarsPosition) -> None:
    mirror = turned(position)
    assert mirror.to_move is position.to_move.other
    assert set(mirror.legal_moves()) == {turned_move(position.size, move) for move in position.legal_moves()}
    for move in position.legal_moves():
        assert turned(position.play(move)) == mirror.play(turned_move(position.size, move))


@untimed
@given(positions())
def test_texts_and_wire_forms_bring_the_position_back(position: TowerWarsPosition) -> None:
    for copy in (
        TowerWarsPosition.from_text(position.to_text()),
        GAME.read_position(GAME.write_position(position)),
        pickle.loads(pickle.dumps(position)),
    ):
        assert copy == position == position.visible()
        assert hash(copy) == hash(position)
        assert copy.outcome == position.outcome
    for move in position.legal_moves():
        assert GAME.parse(GAME.format(move)) == move == GAME.read_move(GAME.write_move(move))


@untimed
@given(positions())
def test_a_move_leaves_the_position_alone_and_takes_at_most_what_stood_on_its_fields(
    position: TowerWarsPosition,
) -> None:
    before = position.to_text()
    for move in position.legal_moves():
        after = position.play(move)
        assert after.to_move is position.to_move.other
        untouched = set(board_of(position.size).fields) - {move.start, move.target}
        assert all(after.piece(field) == position.piece(field) for field in untouched)
        assert stones(after, position.to_move) in {stones(position, position.to_move) - lost for lost in (0, 1)}
        assert stones(after, after.to_move) <= stones(position, after.to_move)
    assert position.to_text() == before


def stones(position: TowerWarsPosition, side: Side) -> int:
    return sum(piece.stones for _, piece in position.pieces() if piece.side is side)


@untimed
@given(st.integers(4, 9), st.integers())
def test_who_has_just_moved_could_move_again(size: int, seed: int) -> None:
    """So both sides are never stuck at once, and nobody loses by an own move."""
    *_, last = random_game(size, seed)
    for position in random_game(size, seed):
        if position is not last and position.cells != TowerWarsPosition.start(size).cells:
            again = TowerWarsPosition(position.size, position.cells, position.to_move.other)
            assert next(again.legal_moves(), None) is not None


@untimed
@given(st.integers(4, 12), st.data())
def test_rings_hold_the_fields_at_their_distance(size: int, data: st.DataObject) -> None:
    board = board_of(size)
    start = data.draw(st.integers(0, size * size - 1))
    seen, edge = {start}, {start}
    for radius in range(1, 2 * size):
        edge = {target for field in edge for target in board.near[field].targets} - seen
        seen |= edge
        assert set(ring(size, start, radius).targets) == edge
        assert all(distance(board.fields[start], board.fields[field]) == radius for field in edge)
    assert seen == set(range(size * size))
