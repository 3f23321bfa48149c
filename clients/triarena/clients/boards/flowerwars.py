"""The board of FlowerWars in a terminal: the meadow as a triangle of triangles, row 1 at the bottom.

``r`` and ``b`` are flowers of a bed, ``R`` and ``B`` of a garden, ``x`` is an infertile field. A ditch is drawn with
``#``, and the points at its ends bear the letter of its side instead of ``+``. Numbers of the rows stand at the left;
those of the columns below and at the right, on the slanting lines that the columns form.
"""

from __future__ import annotations

from triarena.games.core import Side
from triarena.games.flowerwars import END_MOVE, Dig, Ditch, Flower, FlowerWarsPosition, Move, Plant, Point, bits

from .canvas import Canvas, Drawing

STEP = 4
"""Characters from one point to the next in a row; from row to row it is half of that, and two lines."""
MARGIN = 5
"""Characters in front of the point (1, 1): a number, a blank and the lower end of column 1."""
TOP = 2
"""Lines above the highest point: the upper end of column 1."""

STYLES = {Side.RED: "red", Side.BLUE: "blue"}
QUIET = "dim"
FRESH = "reverse"
"""Added to the style of what the last move planted or dug."""
LEGEND = (
    "r b flowers   R B gardens   x infertile   # ditch, between letters of its side",
    "a point is (column,row): rows at the left, columns below and at the right",
)


def draw(position: FlowerWarsPosition, last_move: Move | None = None) -> Drawing:
    """The board, and lines that say whose turn it is, how the sides stand, what is what, and how to name a point."""
    canvas, size = Canvas(), position.size
    for row in range(1, size + 2):
        for column in range(1, size + 3 - row):
            canvas.put(*_place(size, (column, row)), "+", QUIET)
    for ditch in position.board.edges:
        _draw_edge(canvas, size, ditch, "-", QUIET)
    _draw_numbers(canvas, size)
    barren = position.board.fields & ~(position.free | position.red.flowers | position.blue.flowers)
    for one in bits(barren):
        canvas.put(*_middle(size, position.board.flowers[one]), "x", QUIET)
    for side in Side:
        _draw_plot(canvas, position, side, last_move)
    bottom = TOP + 2 * size + 4
    points = ", ".join(f"{side} {position.score(side).points}" for side in Side)
    canvas.put(0, bottom, f"{_turn(position)}; points {points}")
    for line, text in enumerate(LEGEND, start=bottom + 1):
        canvas.put(0, line, text, QUIET)
    return canvas.drawing()


def _draw_numbers(canvas: Canvas, size: int) -> None:
    for row in range(1, size + 2):
        x, y = _place(size, (1, row))
        canvas.put(x - MARGIN, y, f"{row:>2}", QUIET)
    for column in range(1, size + 2):
        x, y = _place(size, (column, 1))
        canvas.put(x - 1, y + 1, "/", QUIET)
        canvas.put(x - 2 - (column > 9), y + 2, str(column), QUIET)
        x, y = _place(size, (column, size + 2 - column))
        canvas.put(x + 1, y - 1, "/", QUIET)
        canvas.put(x + 2, y - 2, str(column), QUIET)


def _draw_plot(canvas: Canvas, position: FlowerWarsPosition, side: Side, last_move: Move | None) -> None:
    size, letter, style = position.size, side[0], STYLES[side]
    gardens = position.plot(side).gardens
    planted = last_move.flowers if isinstance(last_move, Plant) else ()
    for flower in position.flowers(side):
        in_garden = gardens >> position.board.field(flower) & 1
        look = f"bold {style}" if in_garden else style
        text = letter.upper() if in_garden else letter
        canvas.put(*_middle(size, flower), text, f"{look} {FRESH}" if flower in planted else look)
    for ditch in position.ditches(side):
        look = f"bold {style}"
        if isinstance(last_move, Dig) and ditch == last_move.ditch:
            look += f" {FRESH}"
        _draw_edge(canvas, size, ditch, "#", look)
        for point in ditch:
            canvas.put(*_place(size, point), letter, look)


def _draw_edge(canvas: Canvas, size: int, ditch: Ditch, mark: str, style: str) -> None:
    """The line between two points; ``-`` is drawn in the direction of the edge."""
    (x, y), (end_x, end_y) = (_place(size, point) for point in ditch)
    if y == end_y:
        canvas.put(x + 1, y, mark * (STEP - 1), style)
    else:
        slanted = mark if mark != "-" else "/" if end_x > x else "\\"
        canvas.put((x + end_x) // 2, (y + end_y) // 2, slanted, style)


def _place(size: int, point: Point) -> tuple[int, int]:
    """Where a point is drawn."""
    column, row = point
    return MARGIN + STEP * (column - 1) + STEP // 2 * (row - 1), TOP + 2 * (size + 1 - row)


def _middle(size: int, flower: Flower) -> tuple[int, int]:
    """Where a flower is drawn: above the middle of its lower side, or below that of its upper side."""
    if flower.up:
        x, y = _place(size, (flower.column, flower.row))
        return x + STEP // 2, y - 1
    x, y = _place(size, (flower.column, flower.row + 1))
    return x + STEP // 2, y + 1


def _turn(position: FlowerWarsPosition) -> str:
    outcome = position.outcome
    if outcome is None:
        return f"{position.to_move} to move"
    result = "a draw" if outcome.winner is None else f"{outcome.winner} has won"
    cause = "has ended the game" if outcome.reason == END_MOVE else "has no move"
    return f"{position.to_move} {cause}, so points decide: {result}"
