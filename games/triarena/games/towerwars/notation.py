"""The text of moves (``A1->B2``) and of positions (``Rrr./rr.b/r.bb/.bbB R``).

A position text holds the rows from the top, joined by ``/``, then a space and the side to move. In a row
stands, from column A on: ``.`` for an empty field, ``R`` or ``B`` a base, ``r`` or ``b`` a stone, ``r3`` a
tower of that height, ``r3x`` a blocked one.
"""

from __future__ import annotations

import re

from triarena.games.core import BadPosition, MalformedMove, Side, shown

from .board import ALL_FIELDS, MAX_SIZE, MIN_SIZE, Board, board_of, field_name
from .moves import Step
from .pieces import BASE, BYTES, HEIGHT, TEXTS
from .rules import side_rules

ARROW = "->"
_CELL = re.compile(r"[.RB]|[rb](?:[1-8]x?)?")
_SIDES = {"R": Side.RED, "B": Side.BLUE}


def parse_step(text: str) -> Step:
    """The move of a text; lower case and surrounding blanks are accepted. Raises MalformedMove."""
    fields = text.strip(" ").upper().split(ARROW, 2) if text.isascii() else ()
    if len(fields) != 2 or not ALL_FIELDS.issuperset(fields):
        raise MalformedMove(f"{shown(text)} is no move: expected two fields and an arrow, e.g. A1->B2")
    return Step(*fields)


def format_step(move: Step) -> str:
    """The canonical text of a move."""
    return f"{move.start}{ARROW}{move.target}"


def write_board(size: int, cells: bytes, to_move: Side) -> str:
    """The position text."""
    texts = [TEXTS[content] for content in cells]
    rows = ("".join(texts[first : first + size]) for first in range(0, size * size, size))
    return f"{'/'.join(rows)} {'R' if to_move is Side.RED else 'B'}"


def read_board(text: str) -> tuple[int, bytes, Side]:
    """Size, contents of the fields and side to move of a position text. Raises BadPosition."""
    rows_text, _, letter = text.rpartition(" ")
    if letter not in _SIDES:
        raise BadPosition(f"a position text ends with a space and R or B for the side to move, not {shown(text[-20:])}")
    to_move = _SIDES[letter]
    rows = rows_text.split("/")
    size = len(rows)
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise BadPosition(f"a board has {MIN_SIZE} to {MAX_SIZE} rows joined by '/', not {size}")
    cells = bytes(content for number, row in enumerate(rows) for content in _read_row(row, number, size))
    _check_bases(board_of(size), cells, to_move)
    return size, cells, to_move


def _read_row(row: str, number: int, size: int) -> list[int]:
    texts = _CELL.findall(row)
    if "".join(texts) != row:
        raise BadPosition(f"row {number + 1} {shown(row)} holds something else than . R B r b r3 b3 r3x b3x")
    if len(texts) != size:
        raise BadPosition(f"row {number + 1} has {len(texts)} fields, but a board of {size} rows has {size} in each")
    contents = [BYTES[text] for text in texts]
    for column, content in enumerate(contents):
        if content & HEIGHT > size // 3:
            raise BadPosition(
                f"the tower {texts[column]} on {field_name(column, number)} is too high: "
                f"on a board of size {size} towers have at most height {size // 3}"
            )
    return contents


def _check_bases(board: Board, cells: bytes, to_move: Side) -> None:
    """Each base stands in its corner; only that of the side to move may have just been captured, by a stone."""
    for side in Side:
        rules, opponent = side_rules(board.size, side), side_rules(board.size, side.other)
        base, name = rules.own | BASE, board.fields[rules.base]
        for field, content in enumerate(cells):
            if content == base and field != rules.base:
                raise BadPosition(f"the {side} base stands on {board.fields[field]}, but its place is {name}")
        if cells[rules.base] == base or (side is to_move and cells[rules.base] == opponent.own):
            continue
        raise BadPosition(
            f"on {name} stands {TEXTS[cells[rules.base]]} instead of the {side} base: "
            f"only a {side.other} stone may, when it has captured it and {side} is to move"
        )
