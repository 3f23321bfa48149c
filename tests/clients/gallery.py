"""The page docs/boards.md, made from real positions: ``python tests/clients/gallery.py`` writes it anew."""

from __future__ import annotations

import random
from importlib import import_module
from pathlib import Path

from triarena.clients.boards import draw, plain
from triarena.games import find_game

PAGE = Path(__file__).parents[2] / "docs" / "boards.md"
SHOWN: tuple[tuple[str, dict[str, object], int], ...] = (
    ("flowerwars", {"size": 8}, 17),
    ("towerwars", {"size": 8}, 24),
    ("mississippi_queen", {}, 16),
)

HEAD = """# The boards in the terminal

As `triarena watch`, `play` and `replay` draw them, here without colours. Each shows a match between two greedy bots.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(_picture(name, options, plies) for name, options, plies in SHOWN)])


def _picture(name: str, options: dict[str, object], plies: int) -> str:
    game = find_game(name)
    bots = import_module(f"triarena.clients.bots.{name}")
    rng = random.Random(2024)
    position, move = game.start(options, seed=2024), None
    for _ in range(plies):
        if position.outcome is not None:
            break
        move = bots.greedy_move(position, rng)
        position = position.play(move)
    board = plain(draw(name, position.visible(), move)).rstrip("\n")
    return f"## {game.title}, after {plies} plies\n\n```text\n{board}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
