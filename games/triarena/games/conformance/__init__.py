"""The promises that every game keeps, as a check that runs on any of them.

    from random import Random
    from triarena.games import find_game
    from triarena.games.conformance import check_game

    check_game(find_game("towerwars"), Random(1).randrange, options={"size": 5}, seed=7)

``check_game`` plays one game through and raises ``AssertionError`` with a sentence for the first promise that
is broken. Randomness is passed in, so a finding can be repeated; call it with several seeds and options. An
accepted game can be hosted: the server relies on these promises and on nothing else.

* ``faces``: names, options, starts.
* ``play``: legal moves, texts and wire forms, what is visible, the end, along one game.
* ``garbage``: texts and wire forms that are no move and no position; ``spoil`` makes them from good ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from triarena.games.core import AnyGame

from .faces import check_faces
from .garbage import check_garbage
from .play import play_through
from .promise import Choose

__all__ = ["Choose", "check_game"]


def check_game(
    game: AnyGame,
    choose: Choose,
    *,
    options: Mapping[str, object] | None = None,
    seed: int = 0,
    max_plies: int = 200,
    thorough: int = 40,
) -> None:
    """Play one game of ``options`` and ``seed`` and check every promise on the way.

    ``choose(n)`` gives a number from 0 to n - 1, e.g. ``random.Random(1).randrange``. The game is broken off
    after ``max_plies``. At each ply ``thorough`` of the legal moves are tried one by one (the others are only
    listed); garbage is made from the first, a middle and the last position. Raises AssertionError.
    """
    check_faces(game, options or {}, seed)
    passed = play_through(game, choose, game.start(options or {}, seed), max_plies, thorough)
    check_garbage(game, choose, [passed[0], passed[len(passed) // 2], passed[-1]])
