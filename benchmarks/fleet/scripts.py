"""Matches that were thought out before: every move is at hand, so that a bot's time is its own to choose."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from triarena.games import AnyPosition, find_game
from triarena.games.core import Plain

SMALL: Sequence[tuple[str, Mapping[str, int | str]]] = (
    ("flowerwars", {"size": 7}),
    ("towerwars", {"size": 5}),
    ("mississippi_queen", {}),
)
"""Quick matches of all games."""
LOOKED_AT = 12
"""Among so many of the legal moves one is drawn."""


@dataclass(frozen=True, slots=True)
class Script:
    """A whole match, legal from the first ply to the last."""

    game: str
    options: Mapping[str, int | str]
    seed: int
    moves: tuple[Plain, ...]
    """In wire form, by ply."""
    winner: str | None
    reason: str


def script(game: str, options: Mapping[str, int | str], seed: int) -> Script:
    """A match of random moves; the same for the same seed."""
    rules, rng = find_game(game), random.Random(seed)
    position: AnyPosition = rules.start(options, seed)
    moves = []
    while position.outcome is None:
        move = any_move(position, rng)
        moves.append(rules.write_move(move))
        position = position.play(move)
    return Script(game, options, seed, tuple(moves), position.outcome.winner, position.outcome.reason)


def small_scripts(count: int, plies: range = range(8, 1000)) -> list[Script]:
    """So many matches of all games in turn, of such lengths. Raises ValueError if a game has too few of them."""
    found: list[Script] = []
    for seed in range(count * 100):
        candidate = script(*SMALL[len(found) % len(SMALL)], seed)
        if len(candidate.moves) in plies:
            found.append(candidate)
        if len(found) == count:
            return found
    raise ValueError(f"{SMALL[len(found) % len(SMALL)][0]} has too few matches of {plies}")


def any_move(position: AnyPosition, rng: random.Random) -> Any:
    """One of the first legal moves."""
    return rng.choice(list(islice(position.legal_moves(), LOOKED_AT)))
