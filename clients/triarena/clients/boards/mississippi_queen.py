"""The board of Mississippi Queen in a terminal: the revealed river, as it bends, and what the two ships have.

A field (q, r, s) takes two characters; each row is half a field further right than the one above. Numbers at the
left are r; those above and below are q, on the slanting lines that fields of one q form.
"""

from __future__ import annotations

from triarena.games.core import Side
from triarena.games.mississippi_queen import Actions, MississippiQueenPosition
from triarena.games.mississippi_queen.geometry import field_of
from triarena.games.mississippi_queen.river import BLOCKED, GOAL, SANDBANK, STREAM

from .canvas import Canvas, Drawing

PITCH = 2
"""Characters from one field to the next in a row."""
MARGIN = 4
"""Characters in front of the leftmost field: r and a blank."""
ARROWS = "→↘↙←↖↗"
"""By direction."""

SHIP_STYLES = {Side.RED: "bold red", Side.BLUE: "bold blue"}
LETTERS = {Side.RED: "R", Side.BLUE: "B"}
QUIET = "dim"
KINDS = ((BLOCKED, "#", "green"), (GOAL, "G", "bold magenta"), (SANDBANK, "S", "yellow"), (STREAM, "~", "cyan"))
"""What is drawn for a bit of a field's kind, the first that fits; other fields are quiet water."""
PASSENGER = ("P", "bold yellow")
LEGEND = "~ stream   # island   P passenger, dock at the arrow   G goal   S sandbank"


def draw(position: MississippiQueenPosition, last_move: Actions | None = None) -> Drawing:
    """The river as far as it is revealed, a line for each ship, and whose turn it is. No move leaves a mark."""
    canvas = Canvas()
    below = _draw_river(canvas, position)
    canvas.put(0, below + 1, LEGEND, QUIET)
    for line, side in enumerate(Side, start=below + 3):
        canvas.put(0, line, _shown(position, side), SHIP_STYLES[side])
        canvas.put(3, line, _describe(position, side))
    canvas.put(0, below + 6, f"ply {position.turn}; {_turn(position)}")
    return canvas.drawing()


def _draw_river(canvas: Canvas, position: MississippiQueenPosition) -> int:
    """Draw the fields and their coordinates; returns the number of lines."""
    river = position.river
    cells = [cell for segment in river.segments for cell in segment.cells()]
    fields = {cell: field_of(cell)[:2] for cell in cells}
    top, bottom = min(r for _, r in fields.values()), max(r for _, r in fields.values())
    left = min(PITCH * q + r for q, r in fields.values())

    def place(q: int, r: int) -> tuple[int, int]:
        return MARGIN + PITCH * q + r - left, 1 + r - top

    for r in range(top, bottom + 1):
        canvas.put(0, place(0, r)[1], f"{r:>3}", QUIET)
    for row, beside in ((top - 1, top), (bottom + 1, bottom)):
        for q in sorted(q for q, r in fields.values() if r == beside and q % 2 == 0):
            canvas.put(*place(q, row), str(q), QUIET)
    for cell, field in fields.items():
        kind = river.kinds[cell]
        canvas.put(*place(*field), *next(((mark, style) for bit, mark, style in KINDS if kind & bit), (".", QUIET)))
    for passenger in position.waiting():
        letter, style = PASSENGER
        canvas.put(*place(*fields[passenger.cell]), letter + ARROWS[passenger.direction], style)
    for side in Side:
        canvas.put(*place(*fields[position.ship(side).cell]), _shown(position, side), SHIP_STYLES[side])
    return bottom - top + 3


def _shown(position: MississippiQueenPosition, side: Side) -> str:
    """A ship: its letter, and an arrow for its direction."""
    return LETTERS[side] + ARROWS[position.ship(side).direction]


def _describe(position: MississippiQueenPosition, side: Side) -> str:
    """Where a ship is and what it has."""
    ship = position.ship(side)
    counts = (
        f"speed {ship.speed}",
        f"coal {ship.coal}",
        f"free turns {ship.free_turns}",
        f"passengers {ship.passengers}",
        f"points {position.score(side).points}",
    )
    return f"{side:<4} at {field_of(ship.cell)}: {', '.join(counts)}"


def _turn(position: MississippiQueenPosition) -> str:
    outcome = position.outcome
    if outcome is None:
        return f"{position.to_move} to move"
    end = {
        "goal": "the goal is reached",
        "no_move": f"{position.to_move} has no move, so points decide",
        "segment_distance": "a ship is more than three segments behind",
        "round_limit": "the last round is over",
    }[outcome.reason]
    return f"{end}: {'a draw' if outcome.winner is None else f'{outcome.winner} has won'}"
