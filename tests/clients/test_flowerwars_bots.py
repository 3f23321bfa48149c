"""The two bots of FlowerWars: their moves are legal, and the greedy one plants what the published rating likes best."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from triarena.clients.bots.flowerwars import greedy_move, random_move
from triarena.games.core import Side
from triarena.games.flowerwars import GAME, Dig, End, FlowerWarsPosition, Move, Plant

Bot = Callable[[FlowerWarsPosition, random.Random], Move]


def game_of(red: Bot, blue: Bot, size: int, seed: int) -> Iterator[FlowerWarsPosition]:
    rng, position = random.Random(seed), GAME.start({"size": size})
    yield position
    while position.outcome is None:
        position = position.play((red if position.to_move is Side.RED else blue)(position, rng))
        yield position


def rating(position: FlowerWarsPosition, move: Move) -> int:
    """The published rating, read literally."""
    if not isinstance(move, Plant):
        return 0
    own = [set(flower.points) for flower in position.flowers(position.to_move)]
    first, second = (set(flower.points) for flower in move.flowers)
    product = 1
    for points in (first, second):
        product *= 1 + sum(len(points & other) == 2 for other in own)
    return 2 * product if len(first & second) == 2 else product


def test_the_random_bot_plays_every_legal_move_about_equally_often() -> None:
    rng, kinds = random.Random(1), set()
    for seed in range(6):
        for position in game_of(random_move, random_move, 3, seed):
            moves = set(position.legal_moves())
            if moves:
                counts = Counter(random_move(position, rng) for _ in range(100 * len(moves)))
                assert counts.keys() == moves
                assert all(50 < count < 150 for count in counts.values())
                kinds |= {type(move) for move in moves}
    assert kinds == {Plant, Dig, End}


@pytest.mark.parametrize("size", [3, 4, 6])
def test_the_greedy_bot_may_play_just_the_moves_of_the_highest_rating(size: int) -> None:
    rng = random.Random(1)
    for position in game_of(greedy_move, random_move, size, 3):
        moves = list(position.legal_moves())
        if moves:
            best = max(rating(position, move) for move in moves)
            best_moves = {move for move in moves if rating(position, move) == best and not isinstance(move, End)}
            assert {greedy_move(position, rng) for _ in range(20 * len(best_moves))} == best_moves


@pytest.mark.parametrize("bot", [random_move, greedy_move])
def test_bots_play_a_whole_game_on_the_largest_board(bot: Bot) -> None:
    *_, last = game_of(bot, bot, 30, 1)
    assert last.outcome is not None


def test_the_same_lots_give_the_same_game() -> None:
    assert list(game_of(greedy_move, random_move, 6, 5)) == list(game_of(greedy_move, random_move, 6, 5))


def test_the_greedy_bot_beats_the_random_bot_on_either_side() -> None:
    for seed in range(10):
        *_, as_red = game_of(greedy_move, random_move, 8, seed)
        *_, as_blue = game_of(random_move, greedy_move, 8, seed)
        for last, side in ((as_red, Side.RED), (as_blue, Side.BLUE)):
            assert last.outcome is not None
            assert last.outcome.winner is side
