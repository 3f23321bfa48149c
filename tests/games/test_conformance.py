"""Every registered game keeps the promises of triarena.games.Game."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from triarena.games import AnyGame, ChoiceOption, IntOption, games
from triarena.games.conformance import check_game
from triarena.games.registry import BUILT_IN

SEEDS = range(4)


def option_sets(game: AnyGame) -> list[dict[str, object]]:
    """The defaults, and every combination of the least value of each number with every choice."""
    values: list[list[tuple[str, object]]] = []
    for option in game.options:
        match option:
            case IntOption():
                values.append([(option.name, option.minimum)])
            case ChoiceOption():
                values.append([(option.name, choice) for choice in option.choices])
    return [{}, *map(dict, product(*values))]


CASES = [
    pytest.param(game, options, seed, id=f"{game.name}-{seed}-" + "-".join(map(str, options.values())))
    for game in games().values()
    for options in option_sets(game)
    for seed in SEEDS
]


def test_the_three_games_are_registered() -> None:
    assert [name for name in games() if name in BUILT_IN] == ["flowerwars", "towerwars", "mississippi_queen"]


@pytest.mark.parametrize(("game", "options", "seed"), CASES)
def test_a_game_keeps_its_promises(game: AnyGame, options: dict[str, object], seed: int) -> None:
    max_plies = 200 if options else 25  # the small boards are played to the end
    check_game(game, Random(seed).randrange, options=options, seed=seed, max_plies=max_plies, thorough=15)
