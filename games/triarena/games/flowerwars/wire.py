"""Moves as plain values for msgpack and JSON; whatever is read is checked first."""

from __future__ import annotations

from collections.abc import Iterable

from triarena.games.core import MalformedMove, Plain, shown

from .moves import Dig, End, Flower, Move, Plant, Point

_LARGEST = 10**9 - 1
"""No coordinate is greater; the notation has as many digits."""


def write_move(move: Move) -> Plain:
    """``{"type": "plant", "flowers": [[point, point, point], ...]}``, ``{"type": "dig", "ditch": [point, point]}``
    or ``{"type": "end"}``; a point is ``[column, row]``.
    """
    match move:
        case Plant(first, second):
            return {"type": "plant", "flowers": [write_points(first.points), write_points(second.points)]}
        case Dig(ditch):
            return {"type": "dig", "ditch": write_points(ditch)}
        case End():
            return {"type": "end"}


def read_move(wire: Plain) -> Move:
    """The move of a wire form; points and flowers may come in any order. Raises MalformedMove."""
    if not isinstance(wire, dict):
        raise MalformedMove(f"a move is a map with a type, not {quoted(wire)}")
    kind = wire.get("type")
    if kind == "plant":
        flowers = wire.get("flowers")
        if not isinstance(flowers, list | tuple) or len(flowers) != 2:
            raise MalformedMove(f"flowers must be a list of two flowers, not {quoted(flowers)}")
        first, second = (Flower.at(read_points(flower, 3, "a flower")) for flower in flowers)
        return Plant(first, second)
    if kind == "dig":
        start, end = read_points(wire.get("ditch"), 2, "a ditch")
        return Dig((start, end))
    if kind == "end":
        return End()
    raise MalformedMove(f"the type of a move must be plant, dig or end, not {quoted(kind)}")


def write_points(points: Iterable[Point]) -> list[list[int]]:
    """The wire form of a flower or a ditch."""
    return [[column, row] for column, row in points]


def read_points(wire: Plain, count: int, what: str) -> list[Point]:
    """So many points, on whatever board. Raises MalformedMove."""
    if not isinstance(wire, list | tuple) or len(wire) != count:
        raise MalformedMove(f"{what} must be a list of {count} points, not {quoted(wire)}")
    return [_read_point(point) for point in wire]


def _read_point(wire: Plain) -> Point:
    if not isinstance(wire, list | tuple) or len(wire) != 2:
        raise MalformedMove(f"a point must be a list of column and row, not {quoted(wire)}")
    for number in wire:
        if type(number) is not int or not 0 <= number <= _LARGEST:
            raise MalformedMove(f"a column or row must be a whole number from 1, not {quoted(number)}")
    return wire[0], wire[1]


def quoted(value: object) -> str:
    """``value`` for an error sentence; costs little even if it is huge or deeply nested."""
    if isinstance(value, str):
        return shown(value[:60])
    if value is None or isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < 10**18):
        return repr(value)
    if isinstance(value, list | tuple | dict):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"
