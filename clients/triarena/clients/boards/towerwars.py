"""The board of TowerWars in a terminal: a parallelogram, each row half a field further right than the one above.

Letters of the columns stand above and below, on the slanting lines that the columns form; numbers of the rows at
both ends. ``r`` and ``b`` are stones, ``R`` and ``B`` bases, ``r3`` is a tower of height 3, ``r3x`` a blocked one.
A mark in front of a field tells of the last move: ``-`` where it started, ``>`` where it ended.
"""

from __future__ import annotations

from triarena.games.core import Side
from triarena.games.towerwars import Piece, Step, TowerWarsPosition
from triarena.games.towerwars.board import field_name

from .canvas import Canvas, Drawing

PITCH = 4
"""Characters from one field to the next in a row: a mark and up to three for what stands there."""
SHIFT = PITCH // 2
"""Characters from the beginning of a row to that of the next."""
MARGIN = 3
"""Characters in front of a row: its number and a blank."""

STYLES = {Side.RED: "red", Side.BLUE: "blue"}
QUIET = "dim"
MARK = "bold yellow"
LEGEND = "r b stones   R B bases   r2 tower of height 2   r2x blocked   - > last move"


def draw(position: TowerWarsPosition, last_move: Step | None = None) -> Drawing:
    """The board, and lines that say whose turn it is, how the sides stand, and what is what."""
    canvas, size = Canvas(), position.size
    marks = {} if last_move is None else {last_move.start: "-", last_move.target: ">"}
    for row in range(size):
        left = MARGIN + SHIFT * row
        canvas.put(left - MARGIN, row + 1, f"{row + 1:>2}", QUIET)
        canvas.put(left + PITCH * size, row + 1, f" {row + 1}", QUIET)
        for column in range(size):
            name, x = field_name(column, row), left + PITCH * column
            canvas.put(x, row + 1, marks.get(name, " "), MARK)
            canvas.put(x + 1, row + 1, *_shown(position.piece(name)))
    for row in (-1, size):
        for column in range(size):
            canvas.put(MARGIN + SHIFT * row + PITCH * column + 1, row + 1, field_name(column, 0)[0], QUIET)
    canvas.put(0, size + 3, _status(position))
    canvas.put(0, size + 4, LEGEND, QUIET)
    return canvas.drawing()


def _shown(piece: Piece | None) -> tuple[str, str]:
    """The text and the style of what stands on a field."""
    if piece is None:
        return ".", QUIET
    look = "reverse" if piece.kind == "base" else "strike" if piece.blocked else "bold"
    return str(piece), f"{look} {STYLES[piece.side]}"


def _status(position: TowerWarsPosition) -> str:
    parts = [_turn(position)]
    parts.append("score " + ", ".join(f"{side} {position.score(side).points}" for side in Side))
    stones = dict.fromkeys(Side, 0)
    for _, piece in position.pieces():
        stones[piece.side] += piece.stones
    parts.append("stones " + ", ".join(f"{side} {count}" for side, count in stones.items()))
    return "; ".join(parts)


def _turn(position: TowerWarsPosition) -> str:
    match position.outcome:
        case None:
            return f"{position.to_move} to move"
        case outcome if outcome.reason == "base":
            return f"{outcome.winner} has won by taking the base"
        case outcome:
            return f"{outcome.winner} has won: {position.to_move} has no move"
