"""Positions of random games, with legal and illegal moves for each."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from triarena.games import AnyPosition, IllegalMove, find_game

Options: TypeAlias = Mapping[str, int | str]

PLY_CAP = 400
"""Random games of TowerWars may go on for ever; those of the others are over before."""
POSITIONS = 200
"""So many of all positions are looked at, evenly spread."""
AMONG = 20_000
"""A legal move is drawn among so many, so that drawing does not take longer than measuring."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A position and two moves."""

    position: AnyPosition
    legal: Any
    illegal: Any
    """Legal in another position of the same games; None if none was found."""


def random_game(name: str, options: Options, seed: int) -> list[tuple[AnyPosition, Any]]:
    """A random game: every position but the last, with the move that was played."""
    rng, position = random.Random(seed), find_game(name).start(options, seed)
    played: list[tuple[AnyPosition, Any]] = []
    while position.outcome is None and len(played) < PLY_CAP:
        move = rng.choice(list(islice(position.legal_moves(), AMONG)))
        played.append((position, move))
        position = position.play(move)
    return played


def samples(name: str, options: Options, games: int) -> list[Sample]:
    """Positions from the first to the last ply of so many random games."""
    played = [one for seed in range(games) for one in random_game(name, options, seed)]
    moves, rng = [move for _, move in played], random.Random(1)
    step = max(1, len(played) // POSITIONS)
    return [Sample(position, move, _illegal(position, moves, rng)) for position, move in played[::step]]


def _illegal(position: AnyPosition, moves: Sequence[Any], rng: random.Random) -> Any:
    for move in rng.sample(moves, min(len(moves), 50)):
        try:
            position.check(move)
        except IllegalMove:
            return move
    return None
