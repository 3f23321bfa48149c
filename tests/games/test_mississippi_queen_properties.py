"""What holds in every position of Mississippi Queen, reachable or not."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from triarena.games import IllegalMove, Side
from triarena.games.mississippi_queen import (
    GAME,
    Accelerate,
    Action,
    Actions,
    Advance,
    Direction,
    MississippiQueenPosition,
    Push,
    Ship,
    Turn,
)
from triarena.games.mississippi_queen.boards import draw_board
from triarena.games.mississippi_queen.listing import can_move
from triarena.games.mississippi_queen.position import settled
from triarena.games.mississippi_queen.profiles import PROFILES
from triarena.games.mississippi_queen.river import PASSABLE, SANDBANK, rivers

untimed = settings(deadline=None)
few = settings(deadline=None, max_examples=40)


@st.composite
def positions(draw: st.DrawFn, most_coal: int = 6, most_speed: int = 6) -> MississippiQueenPosition:
    """Two ships anywhere on the revealed part of any board, often near each other."""
    sandbanks = draw(st.integers(0, 2))
    profile = draw(st.sampled_from(sorted(PROFILES.values(), key=lambda one: one.name)))
    board = draw_board(draw(st.integers(0, 2**70)), profile, sandbanks)
    river, *beyond = rivers(board, draw(st.integers(2, 8)))
    water = [cell for segment in river.segments for cell in segment.cells() if river.kinds[cell] & PASSABLE]
    first = draw(st.integers(0, len(water) - 1))
    second = draw(st.integers(max(0, first - 6), min(len(water) - 1, first + 6)).filter(lambda index: index != first))

    def ship(cell: int) -> Ship:
        speed = 1 if river.kinds[cell] & SANDBANK else draw(st.integers(1, most_speed))
        coal, passengers, free_turns = draw(st.integers(0, most_coal)), draw(st.integers(0, 3)), draw(st.integers(1, 2))
        return Ship(cell, draw(st.sampled_from(Direction)), speed, coal, passengers, free_turns)

    turn, side = draw(st.integers(0, 59)), draw(st.sampled_from(Side))
    taken = draw(st.integers(0, (1 << len(river.passengers)) - 1))
    red, blue = ship(water[first]), ship(water[second])
    return settled(river, tuple(beyond), profile, sandbanks, turn, side, red, blue, taken)


def by_trial(position: MississippiQueenPosition, begun: Actions = ()) -> Iterator[Actions]:
    """The legal moves in normal form that begin like that, found by ``check`` alone."""
    alone: list[Action] = [Accelerate(by) for by in range(-5, 6) if by] if not begun else []
    last = begun[-1] if begun else None
    if not isinstance(last, Advance):
        alone += [Advance(distance) for distance in range(-1, 7)]
    if not isinstance(last, Turn):
        facing = [action.to for action in begun if isinstance(action, Turn)][-1:]
        present = facing[0] if facing else position.ship(position.to_move).direction
        alone += [Turn(to) for to in Direction if to is not present]
    alone += [Push(to) for to in Direction]
    for action in alone:
        move = (*begun, action)
        try:
            position.check(move)
        except IllegalMove as error:
            if error.code != "movement_points_left":
                continue
        else:
            yield move
        yield from by_trial(position, move)


@few
@given(positions(most_coal=2, most_speed=3))
def test_the_legal_moves_are_those_that_pass_the_check_in_normal_form(position: MississippiQueenPosition) -> None:
    if position.outcome is None:
        listed = list(position.legal_moves())
        assert len(listed) == len(set(listed))
        assert set(listed) == set(by_trial(position))


@untimed
@given(positions())
def test_a_side_can_move_exactly_if_a_move_is_listed(position: MississippiQueenPosition) -> None:
    mover, other = position.ship(position.to_move), position.ship(position.to_move.other)
    running = replace(position, outcome=None)
    assert can_move(position.river, mover, other) is (next(running.legal_moves(), None) is not None)


@untimed
@given(positions(), st.randoms(use_true_random=False))
def test_hidden_segments_change_nothing_that_can_be_seen(
    position: MississippiQueenPosition, rng: random.Random
) -> None:
    seen = position.visible()
    moves = list(position.legal_moves())
    assert list(seen.legal_moves()) == moves
    assert (seen.outcome, seen.score(Side.RED), seen.visible()) == (position.outcome, position.score(Side.RED), seen)
    if moves:
        move = rng.choice(moves)
        mine, theirs = position.play(move), seen.play(move)
        assert (theirs.red, theirs.blue, theirs.taken, theirs.turn) == (mine.red, mine.blue, mine.taken, mine.turn)
        if len(mine.river.segments) == len(seen.river.segments):
            assert theirs == mine.visible()


@untimed
@given(positions(), st.randoms(use_true_random=False))
def test_a_move_changes_only_what_it_may(position: MississippiQueenPosition, rng: random.Random) -> None:
    moves = list(position.legal_moves())
    if not moves:
        return
    before = hash(position)
    move = rng.choice(moves)
    after = position.play(move)
    assert (hash(position), position.play(move)) == (before, after)
    side = position.to_move
    mine, theirs = after.ship(side), after.ship(side.other)
    old = position.ship(side.other)
    assert after.turn == position.turn + 1
    assert mine.cell != theirs.cell
    assert 1 <= mine.speed <= 6
    assert 0 <= mine.coal <= position.ship(side).coal
    assert mine.free_turns == 1
    assert (theirs.coal, theirs.direction) == (old.coal, old.direction)
    if not any(isinstance(action, Push) for action in move):
        assert theirs == old
    fetched = mine.passengers + theirs.passengers - position.ship(side).passengers - old.passengers
    assert (after.taken ^ position.taken).bit_count() == fetched <= 2
    assert after.taken & position.taken == position.taken
    assert len(after.river.segments) - len(position.river.segments) in (0, 1)


@untimed
@given(positions(), st.randoms(use_true_random=False))
def test_a_move_with_its_advances_split_means_the_same(position: MississippiQueenPosition, rng: random.Random) -> None:
    moves = list(position.legal_moves())
    if moves:
        move = rng.choice(moves)
        split: list[Action] = []
        for action in move:
            split += [Advance(1)] * action.distance if isinstance(action, Advance) and action.distance > 0 else [action]
        assert position.play(tuple(split)) == position.play(move)


@untimed
@given(positions())
def test_positions_are_values(position: MississippiQueenPosition) -> None:
    again = pickle.loads(pickle.dumps(position))
    assert again == position
    assert hash(again) == hash(position)
    read = GAME.read_position(GAME.write_position(position))
    assert read == position.visible()
    assert hash(read) == hash(position.visible())


def test_every_game_ends_within_sixty_plies() -> None:
    rng = random.Random(9)
    reasons = set()
    for seed in range(80):
        position = GAME.start({"rules": rng.choice(["seed", "server-24.2.5"])}, seed)
        while position.outcome is None:
            slow = [move for move in position.legal_moves() if len(move) < 3]
            position = position.play(rng.choice(slow or list(position.legal_moves())))
        assert position.turn <= 60
        reasons.add(position.outcome.reason)
    assert reasons >= {"no_move", "segment_distance"}
