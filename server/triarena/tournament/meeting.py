"""The games of an encounter: who is red in which, on which boards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .seeds import Seeds
from .values import Encounter, Fixture


def meet(round_number: int, table: int, first: str, second: str, games: int, seeds: Seeds) -> Encounter:
    """An encounter of ``games`` games in pairs: the same seed twice, sides swapped. ``first`` begins as red.

    A single game is a pair of which only one half is played.
    """
    fixtures = paired_games(round_number, table, first, second, range(1, games + 1), seeds)
    return Encounter(table, first, second, tuple(fixtures))


def paired_games(
    round_number: int, table: int, first: str, second: str, numbers: Iterable[int], seeds: Seeds
) -> Iterable[Fixture]:
    """Games of an encounter by their numbers (from 1): 1 and 2 are its first pair, 3 and 4 the next."""
    for number in numbers:
        index = (number - 1) // 2
        pair = f"{round_number}.{table}.{index + 1}"
        red, blue = (first, second) if number % 2 else (second, first)
        yield Fixture(round_number, table, number, red, blue, seeds.of_pair(pair, round_number, index), pair)


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
