"""The two bots of TowerWars: their moves are legal, and the greedy one takes what lies open and beats the other."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from triarena.clients.bots.towerwars import greedy_move, random_move
from triarena.games.core import Side
from triarena.games.towerwars import Step, TowerWarsPosition

Bot = Callable[[TowerWarsPosition, random.Random], Step]


def greedy(text: str) -> set[str]:
    """All moves that the greedy bot may choose, as far as some lots show them."""
    position = TowerWarsPosition.from_text(text)
    return {str(greedy_move(position, random.Random(seed))) for seed in range(20)}


def winner(red: Bot, blue: Bot, size: int, seed: int) -> Side | None:
    rng, position = random.Random(seed), TowerWarsPosition.start(size)
    for _ in range(1_000):
        if position.outcome is not None:
            return position.outcome.winner
        position = position.play((red if position.to_move is Side.RED else blue)(position, rng))
    return None


def test_the_random_bot_plays_every_legal_move_about_equally_often() -> None:
    position, rng = TowerWarsPosition.start(4), random.Random(1)
    counts = Counter(random_move(position, rng) for _ in range(2_000))
    assert counts.keys() == set(position.legal_moves())
    assert all(60 < count < 140 for count in counts.values())


def test_the_greedy_bot_takes_the_base_rather_than_anything_else() -> None:
    assert greedy("R.../..../..br/b..B R") == {"D3->D4"}


def test_it_wins_by_leaving_the_opponent_without_a_move() -> None:
    assert greedy("R.../r1r.b1/..../r..B R") == {"B2->D2"}


def test_it_captures_the_attacker_of_its_base_rather_than_a_tower() -> None:
    assert greedy("Rb../r.../.rb1./...B R") == {"A2->B1"}


def test_it_blocks_the_tower_that_lets_an_attacker_reach_its_base() -> None:
    assert greedy("R...../.b..../.b1..../....../r1r..../.....B R") == {"B5->B3"}


def test_it_captures_the_highest_tower() -> None:
    assert greedy("R...../....../..rb../..b2.../.b1..../.....B R") == {"C3->C4"}


def test_it_moves_towards_the_base_but_not_to_where_it_would_be_captured() -> None:
    assert greedy("R...../.r..../....../....../...b../.....B R") == {"B2->C2", "B2->B3"}
    assert greedy("R...../....../..r.../...b../....../.....B R") == {"C3->B4", "C3->D2"}


@pytest.mark.parametrize("size", [4, 8])
def test_the_greedy_bot_beats_the_random_one(size: int) -> None:
    wins = sum(winner(greedy_move, random_move, size, seed) is Side.RED for seed in range(10))
    wins += sum(winner(random_move, greedy_move, size, seed) is Side.BLUE for seed in range(10))
    assert wins >= 19


def test_two_greedy_bots_come_to_an_end() -> None:
    assert all(winner(greedy_move, greedy_move, 6, seed) is not None for seed in range(5))


def test_the_same_lots_give_the_same_moves() -> None:
    position = TowerWarsPosition.start(8)
    assert greedy_move(position, random.Random(7)) == greedy_move(position, random.Random(7))
