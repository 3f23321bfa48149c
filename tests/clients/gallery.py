"""The page docs/boards.md, made from real positions: ``python tests/clients/gallery.py`` writes it anew."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from triarena.clients.boards import draw, plain
from triarena.games import Side, find_game

PAGE = Path(__file__).parents[2] / "docs" / "boards.md"


@dataclass(frozen=True, slots=True)
class Picture:
    """A match between two bots that come along, red and blue, at one moment."""

    game: str
    plies: int
    seed: int
    options: dict[str, object] = field(default_factory=dict)
    bots: tuple[str, str] = ("greedy", "greedy")


PICTURES = (
    Picture("flowerwars", 18, 33, {"size": 7}, bots=("greedy", "random")),
    Picture("towerwars", 24, 2024, {"size": 8}),
    Picture("mississippi_queen", 12, 31),
)

HEAD = """# The boards in the terminal

As `triarena watch`, `play` and `replay` draw them, here without colours.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *map(_section, PICTURES)])


def reached(picture: Picture) -> tuple[Any, Any]:
    """The position of a picture and the move that led to it."""
    game, rng = find_game(picture.game), random.Random(picture.seed)
    module = import_module(f"triarena.clients.bots.{picture.game}")
    bots = dict(zip(Side, picture.bots, strict=True))
    position, move = game.start(picture.options, seed=picture.seed), None
    for ply in range(picture.plies):
        assert position.outcome is None, f"{picture.game} is over after {ply} plies, before the {picture.plies} shown"
        move = getattr(module, f"{bots[position.to_move]}_move")(position, rng)
        position = position.play(move)
    return position, move


def _section(picture: Picture) -> str:
    game = find_game(picture.game)
    position, move = reached(picture)
    board = plain(draw(picture.game, position.visible(), move)).rstrip("\n")
    heading = f"## {game.title}, {' against '.join(picture.bots)}, after {picture.plies} plies"
    return f"{heading}\n\n```text\n{board}\n```\n\nThe last move was `{game.format(move)}`.\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
