"""How fast the rules of one game are on one board: checking, playing, listing, whole random games, memory."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from triarena.games import AnyPosition, MoveError, find_game

from .samples import PLY_CAP, Options, Sample, random_game, samples
from .timing import Effort, seconds

Figures: TypeAlias = dict[str, float]

LISTED = 40
"""So many of the positions are listed."""
MOST_GAMES = 100
"""So many random games make a round, at most; of the slowest kind it is one."""


def board_figures(name: str, options: Options, effort: Effort) -> Figures:
    """All figures of one game and size; those of a check or a play are means over positions of random games."""
    found = samples(name, options, effort.games)
    refused = [(sample.position, sample.illegal) for sample in found if sample.illegal is not None]
    plies, playing = _playouts(name, options, effort)
    return {
        "check_legal": seconds(partial(_check_legal, found), effort) / len(found) * 1e6,
        "check_illegal": refusal_micros(refused, effort),
        "play": play_micros(found, effort),
        "write": writing_micros(name, found, effort),
        **listing_figures(found[:: max(1, len(found) // LISTED)], effort),
        "plies": plies / playing,
        "games": 1 / playing,
        **_memory(name, options),
    }


def play_micros(found: Sequence[Sample], effort: Effort) -> float:
    """CPU microseconds of playing a given legal move: checked, and with the test whether the other side can move."""

    def play_each() -> None:
        for sample in found:
            sample.position.play(sample.legal)

    return seconds(play_each, effort) / len(found) * 1e6


def writing_micros(name: str, found: Sequence[Sample], effort: Effort) -> float:
    """CPU microseconds of writing a position for the wire."""
    write = find_game(name).write_position

    def write_each() -> None:
        for sample in found:
            write(sample.position)

    return seconds(write_each, effort) / len(found) * 1e6


def listing_figures(found: Sequence[Sample], effort: Effort) -> Figures:
    """Full lists, and moves in them, per CPU second."""

    def list_each() -> int:
        return sum(len(list(sample.position.legal_moves())) for sample in found)

    took = seconds(list_each, effort)
    return {"lists": len(found) / took, "listed": list_each() / took}


def refusal_micros(found: Sequence[tuple[AnyPosition, Any]], effort: Effort) -> float:
    """CPU microseconds of refusing an illegal move, the sentence that says why included."""

    def check_each() -> None:
        for position, move in found:
            try:
                position.check(move)
            except MoveError:
                continue
            raise AssertionError(f"{move} was refused before")

    return seconds(check_each, effort) / max(1, len(found)) * 1e6


def _check_legal(found: Sequence[Sample]) -> None:
    for sample in found:
        sample.position.check(sample.legal)


def playout(name: str, options: Options, seed: int) -> int:
    """A random game with all moves listed at every ply: how many plies it had."""
    rng, position, plies = random.Random(seed), find_game(name).start(options, seed), 0
    while position.outcome is None and plies < PLY_CAP:
        position = position.play(rng.choice(list(position.legal_moves())))
        plies += 1
    return plies


def _playouts(name: str, options: Options, effort: Effort) -> tuple[float, float]:
    """Plies and CPU seconds of a random game: the means of several."""
    first = seconds(partial(playout, name, options, 0), Effort(1, 0.0, 1))
    games = min(max(1, int(effort.seconds / first)), MOST_GAMES)

    def play_all() -> int:
        return sum(playout(name, options, seed) for seed in range(games))

    return play_all() / games, seconds(play_all, effort) / games


SEED_OF_THE_KEPT: Final = 15
"""Of a game that is not short on any board."""


def _memory(name: str, options: Options) -> Figures:
    """The bytes of each further position of a game; and what the game takes besides, however many are kept."""
    moves = [move for _, move in random_game(name, options, SEED_OF_THE_KEPT)]  # makes the tables that stay
    tracemalloc.start()
    nothing = tracemalloc.get_traced_memory()[0]
    first = random_game(name, options, SEED_OF_THE_KEPT)[0][0]
    game = tracemalloc.get_traced_memory()[0]
    kept = [first]
    for move in moves[:-1]:
        kept.append(kept[-1].play(move))
    all_of_them = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return {"memory": (all_of_them - game) / len(kept), "shared_memory": game - nothing}
