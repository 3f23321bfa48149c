"""Positions as plain values for msgpack and JSON; whatever is read is checked against the rules first."""

from __future__ import annotations

from functools import cache

from triarena.games.core import BadPosition, MalformedMove, Plain, Side, agrees, write_outcome

from .board import MAX_SIZE, MIN_SIZE, Board, bits, board
from .moves import Dig
from .notation import format_points
from .planting import Plot, beds, is_sound
from .position import FlowerWarsPosition
from .scoring import points
from .wire import quoted, read_points, write_points

NAME = "flowerwars"
_EMPTY, _RED, _BLUE = ".rb"
_MARKS = str.maketrans("012", ".rb")
_RED_BITS, _BLUE_BITS = str.maketrans(".rb", "010"), str.maketrans(".rb", "001")


def write_position(position: FlowerWarsPosition) -> Plain:
    """All that is on the board; ``fields`` has a text per row from below, in it a character per field from the left."""
    return {
        "game": NAME,
        "size": position.size,
        "to_move": position.to_move.value,
        "fields": "/".join(_write_rows(position)),
        "red_ditches": _write_ditches(position.board, position.red),
        "blue_ditches": _write_ditches(position.board, position.blue),
        "points": _points(position),
        "outcome": write_outcome(position.outcome),
    }


def read_position(wire: Plain) -> FlowerWarsPosition:
    """The position of a wire form. Raises BadPosition if it is none or breaks a rule of beds, gardens and ditches.

    ``points`` and ``outcome`` follow from the rest, except for an end by End: they may be missing, but not be wrong.
    """
    if not isinstance(wire, dict):
        raise BadPosition(f"a position is a map, not {quoted(wire)}")
    if wire.get("game") != NAME:
        raise BadPosition(f"game must be {NAME}, not {quoted(wire.get('game'))}")
    size = wire.get("size")
    if type(size) is not int or not MIN_SIZE <= size <= MAX_SIZE:
        raise BadPosition(f"size must be a whole number from {MIN_SIZE} to {MAX_SIZE}, not {quoted(size)}")
    to_move = wire.get("to_move")
    if to_move not in ("red", "blue"):
        raise BadPosition(f"to_move must be red or blue, not {quoted(to_move)}")
    table = board(size)
    red_flowers, blue_flowers = _read_fields(table, wire.get("fields"))
    red = Plot.of(table, red_flowers, _read_ditches(table, "red_ditches", wire.get("red_ditches")))
    blue = Plot.of(table, blue_flowers, _read_ditches(table, "blue_ditches", wire.get("blue_ditches")))
    _check_beds(table, red, Side.RED)
    _check_beds(table, blue, Side.BLUE)
    _check_ditches(table, red, blue)
    position = FlowerWarsPosition.of(table, Side(to_move), red, blue)
    told = wire.get("points")
    if told is not None and not agrees(told, _points(position)):
        raise BadPosition(f"points do not agree with the board, on which they are {_points(position)}")
    return _concluded(position, wire.get("outcome"))


def _write_ditches(table: Board, plot: Plot) -> list[list[list[int]]]:
    return [write_points(table.digs[edge].ditch) for edge in bits(plot.ditches)]


def _write_rows(position: FlowerWarsPosition) -> list[str]:
    # One hexadecimal digit per field, 1 for red and 2 for blue: numbers become text much faster than field by field.
    digits = int(f"{position.red.flowers:b}", 16) | int(f"{position.blue.flowers:b}", 16) << 1
    marks = f"{digits:0{len(position.board.flowers)}x}"[::-1].translate(_MARKS)
    return [marks[row] for row in _rows(position.size)]


@cache
def _rows(size: int) -> tuple[slice, ...]:
    """Where the marks of each row stand among those of all fields."""
    starts = [(row - 1) * (2 * size - row + 1) for row in range(1, size + 2)]
    return tuple(map(slice, starts, starts[1:]))


def _points(position: FlowerWarsPosition) -> dict[str, int]:
    return {"red": points(position.board, position.red), "blue": points(position.board, position.blue)}


def _read_fields(table: Board, wire: Plain) -> tuple[int, int]:
    """The red and the blue flowers."""
    lengths = [row.stop - row.start for row in _rows(table.size)]
    if not isinstance(wire, str) or len(wire) != sum(lengths) + len(lengths) - 1:
        raise BadPosition(f"fields must be the {table.size} rows of the board joined by /, not {quoted(wire)}")
    rows = wire.split("/")
    if [len(row) for row in rows] != lengths:
        raise BadPosition(f"the rows of fields must be {', '.join(map(str, lengths))} characters long")
    marks = "".join(rows)
    if strange := marks.strip(_EMPTY + _RED + _BLUE):
        raise BadPosition(f"a field must be {_EMPTY}, {_RED} or {_BLUE}, not {quoted(strange[0])}")
    backwards = marks[::-1]
    return int(backwards.translate(_RED_BITS), 2), int(backwards.translate(_BLUE_BITS), 2)


def _read_ditches(table: Board, name: str, wire: Plain) -> int:
    if not isinstance(wire, list | tuple) or len(wire) > len(table.edges):
        raise BadPosition(f"{name} must be a list of ditches, not {quoted(wire)}")
    ditches = 0
    for item in wire:
        try:
            start, end = read_points(item, 2, "a ditch")
        except MalformedMove as error:
            raise BadPosition(f"{name}: {error}") from None
        edge = table.edges.get(Dig((start, end)).ditch)
        if edge is None:
            raise BadPosition(f"{name}: {format_points((start, end))} is no edge of the board of size {table.size}")
        if ditches >> edge & 1:
            raise BadPosition(f"{name}: {format_points((start, end))} is there twice")
        ditches |= 1 << edge
    return ditches


def _check_beds(table: Board, plot: Plot, side: Side) -> None:
    for bed in beds(table, plot.flowers):
        if not is_sound(table, plot.flowers, bed):
            flowers = " ".join(format_points(table.flowers[one].points) for one in bits(bed))
            raise BadPosition(f"{side}'s bed {flowers} is too large or a garden that touches another bed")


def _check_ditches(table: Board, red: Plot, blue: Plot) -> None:
    ends = 0
    for side, plot in ((Side.RED, red), (Side.BLUE, blue)):
        for edge in bits(plot.ditches):
            name = f"{side}'s ditch {format_points(table.digs[edge].ditch)}"
            if table.edge_ends[edge] & ~plot.corners:
                raise BadPosition(f"{name} has an end without a flower of {side}")
            if table.edge_fields[edge] & (red.flowers | blue.flowers):
                raise BadPosition(f"{name} has a flower beside it")
            if table.edge_ends[edge] & ends:
                raise BadPosition(f"{name} shares an end with another ditch")
            ends |= table.edge_ends[edge]


def _concluded(position: FlowerWarsPosition, wire: Plain) -> FlowerWarsPosition:
    """The position with the outcome that the wire form tells, which must be the one that the rules give."""
    if wire is None:
        return position
    if position.can_plant:
        raise BadPosition(f"outcome must be null while {position.to_move} can plant two flowers")
    ended = position if position.outcome else position.ended()
    expected = write_outcome(ended.outcome)
    if not agrees(wire, expected):
        raise BadPosition(f"outcome does not agree with the board, on which it is {expected}")
    return ended
