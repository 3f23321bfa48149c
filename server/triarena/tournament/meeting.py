"""The games of an encounter: who is red in which, on which boards."""

from __future__ import annotations

from collections.abc import Sequence

from .seeds import Seeds
from .values import Encounter, Fixture


def meet(round_number: int, table: int, first: str, second: str, games: int, seeds: Seeds) -> Encounter:
    """An encounter of ``games`` games in pairs: the same seed twice, sides swapped. ``first`` begins as red.

    A single game is a pair of which only one half is played.
    """
    fixtures: list[Fixture] = []
    for index in range(pairs_of(games)):
        fixtures += pair_of_games(round_number, table, first, second, len(fixtures) + 1, index, seeds)
    return Encounter(table, first, second, tuple(fixtures[:games]))


def pair_of_games(
    round_number: int, table: int, first: str, second: str, number: int, index: int, seeds: Seeds
) -> tuple[Fixture, Fixture]:
    """Two games of an encounter: those with this number and the next, its pair with this index (from 0)."""
    pair = f"{round_number}.{table}.{index + 1}"
    seed = seeds.of_pair(pair, round_number, index)
    return (
        Fixture(round_number, table, number, first, second, seed, pair),
        Fixture(round_number, table, number + 1, second, first, seed, pair),
    )


def pairs_of(games: int) -> int:
    """How many pairs, and so how many boards, an encounter of so many games takes."""
    return (games + 1) // 2


def check_players(players: Sequence[str], least: int = 2) -> None:
    """Raises ValueError if there are too few players, or one of them twice."""
    if len(players) < least:
        raise ValueError(f"This format needs at least {least} players, and there are {len(players)}.")
    twice = sorted({name for name in players if players.count(name) > 1})
    if twice:
        raise ValueError(f"{', '.join(twice)} stands twice in the list of players: every name must be different.")


def check_games(games: int) -> None:
    """Raises ValueError unless two players can meet for so many games: 1, or an even number."""
    if games < 1 or (games > 1 and games % 2):
        raise ValueError(
            f"games_per_pairing must be 1 or an even number, not {games}: games come in pairs with sides swapped."
        )
