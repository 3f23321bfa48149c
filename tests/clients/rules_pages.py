"""The pages docs/rules/*.md; ``python -m tests.clients.rules_pages`` draws their boards anew.

A board stands below a comment ``<!-- board OPTIONS MOVES -->``: options as JSON, then moves joined by `` ; ``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from triarena.clients.boards import draw, plain
from triarena.games import find_game
from triarena.games.registry import BUILT_IN

FOLDER = Path(__file__).parents[2] / "docs" / "rules"
PAGES = {name: FOLDER / f"{name}.md" for name in BUILT_IN}
_BOARD = re.compile(r"(<!-- board (\{.*?\})(?: (.*))? -->\n```text\n).*?(?=```$)", re.DOTALL | re.MULTILINE)


def drawn_anew(name: str, text: str) -> str:
    """The page of a game with its boards as the terminal shows them now."""
    return _BOARD.sub(lambda found: found[1] + _board(name, json.loads(found[2]), found[3]), text)


def shown_positions(name: str, text: str) -> list[Any]:
    """The positions of the page's boards."""
    return [_position(name, json.loads(found[2]), found[3]) for found in _BOARD.finditer(text)]


def _position(name: str, options: dict[str, object], moves: str | None) -> Any:
    game = find_game(name)
    position = game.start(options)
    for move in moves.split(" ; ") if moves else ():
        position = position.play(game.parse(move))
    return position


def _board(name: str, options: dict[str, object], moves: str | None) -> str:
    """The board alone: what stands below the first blank line is no affair of the rules."""
    drawing = plain(draw(name, _position(name, options, moves).visible()))
    return drawing.partition("\n\n")[0] + "\n"


if __name__ == "__main__":
    for game, page in PAGES.items():
        page.write_text(drawn_anew(game, page.read_text("utf-8")), encoding="utf-8")
