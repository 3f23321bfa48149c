"""How often the greedy bots beat random: ``python benchmarks/greedy_against_random.py --matches 100``.

Every match is played by the rules engines in this process, sides swapped from match to match, each with a seed of
its own; a match that reaches the ply limit counts as not won.
"""

from __future__ import annotations

import random
import time
from importlib import import_module

from fleet.arguments import count, reader
from fleet.verdict import ended

from triarena.games import Side, find_game
from triarena.games.registry import BUILT_IN


def winner(name: str, greedy: Side, seed: int) -> Side | None:
    """Who wins one match; None for a draw, and for one that the referee would break off."""
    game = find_game(name)
    bots = import_module(f"triarena.clients.bots.{name}")
    rng = random.Random(seed)
    options = {option.name: option.default for option in game.options}
    position, limit, ply = game.start(options, seed), game.ply_limit(options), 0
    while position.outcome is None:
        if limit is not None and ply >= limit:
            return None
        choose = bots.greedy_move if position.to_move is greedy else bots.random_move
        position, ply = position.play(choose(position, rng)), ply + 1
    outcome_winner: Side | None = position.outcome.winner
    return outcome_winner


def main() -> None:
    """Print a line per game."""
    parser = reader(__doc__)
    parser.add_argument("--matches", type=count, default=100)
    matches = parser.parse_args().matches
    for name in BUILT_IN:
        began, won, lost = time.perf_counter(), 0, 0
        for seed in range(matches):
            greedy = list(Side)[seed % 2]
            who = winner(name, greedy, seed)
            won, lost = won + (who is greedy), lost + (who is greedy.other)
        seconds = time.perf_counter() - began
        print(
            f"{name}: greedy won {won}, random won {lost}, neither {matches - won - lost} of {matches}"
            f" ({seconds:.1f} s)",
            flush=True,
        )


if __name__ == "__main__":
    ended(main)
