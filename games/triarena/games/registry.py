"""Which games there are: ours, named here, and those that other distributions declare."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from .core import AnyGame

BUILT_IN = ("flowerwars", "towerwars", "mississippi_queen")
"""Packages beside this module; each holds one ``GAME``."""

ENTRY_POINTS = "triarena.games"
"""The entry-point group in which another distribution names its ``Game`` value."""


class UnknownGame(LookupError):
    """No registered game has this name; ``str(error)`` says which there are."""


@cache
def games() -> dict[str, AnyGame]:
    """All registered games by name. Raises RuntimeError if two share a name."""
    ours = [import_module(f".{name}", __package__).GAME for name in BUILT_IN]
    theirs = [entry.load() for entry in entry_points(group=ENTRY_POINTS)]
    found: dict[str, AnyGame] = {}
    for game in (*ours, *theirs):
        if found.setdefault(game.name, game) is not game:
            raise RuntimeError(f"two registered games are called {game.name!r}")
    return found


def find_game(name: str) -> AnyGame:
    """The registered game of that name. Raises UnknownGame."""
    if name in BUILT_IN:  # without importing the others: a student's bot starts faster
        game: AnyGame = import_module(f".{name}", __package__).GAME
        return game
    try:
        return games()[name]
    except KeyError:
        similar = get_close_matches(name[:40], games(), n=1)
        hint = f" (did you mean {similar[0]}?)" if similar else ""
        raise UnknownGame(f"there is no game {name[:40]!r}{hint}; there are {', '.join(games())}") from None
