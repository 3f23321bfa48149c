"""The two players of Mississippi Queen that come along."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from triarena.clients.bots.mississippi_queen import greedy_move, random_move
from triarena.games import Outcome, Side
from triarena.games.mississippi_queen import GAME, Actions, Direction, MississippiQueenPosition, Segment, Ship
from triarena.games.mississippi_queen.geometry import cell_at
from triarena.games.mississippi_queen.position import settled
from triarena.games.mississippi_queen.profiles import SEED
from triarena.games.mississippi_queen.river import rivers

Player = Callable[[MississippiQueenPosition, random.Random], Actions]


def straight(red: Ship, blue: Ship, passenger: bool = False, turn: int = 1) -> MississippiQueenPosition:
    """A straight river, all revealed, with a passenger at (5, -1) whose dock is (4, -1), if any; red is to move."""
    segments = [Segment(Direction.RIGHT, (4 * k, 0, -4 * k), ("WWWWW",) * 4) for k in range(8)]
    segments[7] = replace(segments[7], columns=("WWWWW", "WWWWW", "WWWWW", "WGGGW"))
    if passenger:
        segments[1] = replace(segments[1], columns=("WWWWW", "WWWWW", "W3WWW", "WWWWW"))
    (river,) = rivers(segments, 8)
    return settled(river, (), SEED, 0, turn, Side.RED, red, blue, 0)


def play(red: Player, blue: Player, seed: int, **options: object) -> Outcome:
    rng, position = random.Random(seed), GAME.start(options, seed)
    while (outcome := position.outcome) is None:
        player = red if position.to_move is Side.RED else blue
        position = position.play(player(position, rng))
    return outcome


def test_the_random_player_finds_every_legal_move() -> None:
    position = straight(Ship(cell_at((0, -1, 1)), coal=0, free_turns=1), Ship(cell_at((0, 1, -1))))
    rng = random.Random(1)
    drawn = {random_move(position, rng) for _ in range(3000)}
    assert drawn == set(position.legal_moves())


def test_the_greedy_player_beats_the_random_one_clearly() -> None:
    won = 0
    for seed in range(15):
        won += play(greedy_move, random_move, seed).winner is Side.RED
        won += play(random_move, greedy_move, seed).winner is Side.BLUE
    assert won >= 27


def test_greedy_players_race_to_an_end_by_the_rules_of_the_race() -> None:
    ends = [play(greedy_move, greedy_move, seed).reason for seed in range(8)]
    assert ends.count("goal") >= 6
    assert ends.count("no_move") <= 1


def test_the_greedy_player_does_not_get_stuck_though_points_would_decide_for_it() -> None:
    """On this board blue could win in its first move by running into a dead end, one point ahead."""
    position = GAME.start({}, 0)
    position = position.play(GAME.parse("A1 M2"))
    ends = [position.play(move).outcome for move in position.legal_moves()]
    assert any(end is not None and end.winner is Side.BLUE for end in ends)
    assert position.play(greedy_move(position, random.Random(0))).outcome is None


def test_both_players_play_legal_moves_under_every_option() -> None:
    for seed, (rules, sandbanks) in enumerate((r, s) for r in ("seed", "server-24.2.5") for s in range(3)):
        assert play(greedy_move, random_move, seed, rules=rules, sandbanks=sandbanks).reason


def test_the_same_lots_give_the_same_move() -> None:
    position = GAME.start({}, 5)
    assert greedy_move(position, random.Random(3)) == greedy_move(position, random.Random(3))


def test_the_greedy_player_does_not_look_at_hidden_segments() -> None:
    position = GAME.start({}, 5)
    assert greedy_move(position, random.Random(3)) == greedy_move(position.visible(), random.Random(3))


def test_the_greedy_player_fetches_a_passenger_that_it_can_reach() -> None:
    position = straight(Ship(cell_at((3, -1, -2))), Ship(cell_at((2, 1, -3))), passenger=True)
    assert position.play(greedy_move(position, random.Random(0))).red.passengers == 1


def test_the_greedy_player_brakes_in_front_of_a_dock() -> None:
    position = straight(Ship(cell_at((2, -1, -1)), speed=3), Ship(cell_at((0, 1, -1))), passenger=True)
    for _ in range(2):
        position = replace(position, to_move=Side.RED)
        position = position.play(greedy_move(position, random.Random(0)))
    assert position.red.passengers == 1


def test_the_greedy_player_wins_if_it_can() -> None:
    ahead = Ship(cell_at((29, -1, -28)), passengers=2)
    position = straight(ahead, Ship(cell_at((27, 1, -28)), passengers=3))
    outcome = position.play(greedy_move(position, random.Random(0))).outcome
    assert outcome is not None
    assert (outcome.winner, outcome.reason) == (Side.RED, "goal")
