"""How many plies games have between the bots that come along: ``python benchmarks/typical_plies.py --matches 20``.

The figures stand in ``triarena.organiser.durations``, which estimates how long a tournament takes.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from importlib import import_module
from statistics import mean
from typing import Final

from fleet.arguments import count, reader
from fleet.verdict import ended

from triarena.games import Side, find_game
from triarena.organiser.durations import typical_plies

MEASURED: Final[Mapping[str, tuple[str, tuple[int, ...]]]] = {
    "flowerwars": ("size", (3, 4, 6, 8, 10, 12)),
    "towerwars": ("size", (4, 5, 6, 8, 10, 12)),
    "mississippi_queen": ("sandbanks", (0, 1, 2)),
}
"""The option that is varied, and its values."""


def plies(name: str, options: Mapping[str, int | str], bots: Sequence[str], seed: int) -> int:
    """The length of one game between two bots: their names, red's first."""
    game, module = find_game(name), import_module(f"triarena.clients.bots.{name}")
    players = {side: getattr(module, f"{bot}_move") for side, bot in zip(Side, bots, strict=True)}
    rng, position, limit = random.Random(seed), game.start(options, seed), game.ply_limit(options)
    for ply in itertools.count():
        if position.outcome is not None or ply == limit:
            return ply
        position = position.play(players[position.to_move](position, rng))
    raise AssertionError("counting never ends")


def main() -> None:
    """Print a line for each game, size and pairing."""
    parser = reader(__doc__)
    parser.add_argument("--matches", type=count, default=20)
    matches = parser.parse_args().matches
    for name, (key, values) in MEASURED.items():
        for value in values:
            options = {option.name: option.default for option in find_game(name).options} | {key: value}
            found = []
            for bots in (("greedy", "greedy"), ("greedy", "random"), ("random", "random")):
                lengths = [plies(name, options, (bots, bots[::-1])[seed % 2], seed) for seed in range(matches)]
                found.append(f"{' - '.join(bots)} {mean(lengths):.0f} (at most {max(lengths)})")
            print(f"{name}, {key} {value}: {', '.join(found)}; taken: {typical_plies(name, options)}", flush=True)


if __name__ == "__main__":
    ended(main)
