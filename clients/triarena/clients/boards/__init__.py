"""Boards drawn for a terminal: ``draw(position)`` gives styled lines, whatever the game.

* ``canvas``: the grid of styled characters, ``Drawing``, ``plain``.
* one module per game, each with ``draw(position, last_move=None) -> Drawing``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from triarena.games.registry import BUILT_IN

from .canvas import Drawing as Drawing
from .canvas import plain as plain


def draw(game: str, position: Any, last_move: Any = None) -> Drawing:
    """The board of a position of ``game``, with what ``last_move`` did marked.

    A game that brings no drawing is shown by its repr.
    """
    if game not in BUILT_IN:
        return (((repr(position), ""),),)
    drawing: Drawing = import_module(f".{game}", __package__).draw(position, last_move)
    return drawing
