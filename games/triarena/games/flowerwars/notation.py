"""The text of moves: ``{{(1,1),(2,1),(1,2)},{(2,1),(1,2),(2,2)}}`` plants, ``{{(3,1),(4,1)}}`` digs, ``{End}`` ends."""

from __future__ import annotations

import re
from collections.abc import Iterable

from triarena.games.core import MalformedMove, shown

from .moves import Dig, End, Flower, Move, Plant, Point


def _spaced(pattern: str) -> re.Pattern[str]:
    """``pattern`` with blanks allowed between its tokens, which are separated by a blank there."""
    return re.compile(" *".join(pattern.split()), re.ASCII)


_POINT = r"\( ([0-9]{1,9}) , ([0-9]{1,9}) \)"
_FLOWER = rf"\{{ {_POINT} , {_POINT} , {_POINT} \}}"
_PLANT = _spaced(rf"\{{ {_FLOWER} , {_FLOWER} \}}")
_DIG = _spaced(rf"\{{ \{{ {_POINT} , {_POINT} \}} \}}")
_END = _spaced(r"\{ End \}")
_SURRENDER = _spaced(r"\{ Surrender \}")


def parse(text: str) -> Move:
    """The move of a text; points, flowers and blanks may come in any order. Raises MalformedMove."""
    if not isinstance(text, str):
        raise MalformedMove(f"a move is a text, not {shown(text)}")
    stripped = text.strip(" ")
    if found := _PLANT.fullmatch(stripped):
        a, b, c, d, e, f = _points(found.groups())
        return Plant(Flower.at((a, b, c)), Flower.at((d, e, f)))
    if found := _DIG.fullmatch(stripped):
        a, b = _points(found.groups())
        return Dig((a, b))
    if _END.fullmatch(stripped):
        return End()
    if _SURRENDER.fullmatch(stripped):
        raise MalformedMove("surrender is a message to the referee, not a move of FlowerWars", "surrender_is_no_move")
    raise MalformedMove(
        f"{shown(text)} is no move; a move looks like {{{{(1,1),(2,1),(1,2)}},{{(2,1),(1,2),(2,2)}}}}, "
        "{{(3,1),(4,1)}} or {End}"
    )


def format_move(move: Move) -> str:
    """The canonical text of a move."""
    match move:
        case Plant(first, second):
            (a, b), (c, d), (e, f) = first.points  # spelled out: lists of moves are long
            (g, h), (i, j), (k, m) = second.points
            return f"{{{{({a},{b}),({c},{d}),({e},{f})}},{{({g},{h}),({i},{j}),({k},{m})}}}}"
        case Dig(ditch):
            return f"{{{format_points(ditch)}}}"
        case End():
            return "{End}"


def format_points(points: Iterable[Point]) -> str:
    """The text of a flower or a ditch, e.g. ``{(3,1),(4,1)}``."""
    return "{" + ",".join(f"({column},{row})" for column, row in points) + "}"


def _points(numbers: Iterable[str]) -> list[Point]:
    values = iter(map(int, numbers))
    return list(zip(values, values, strict=True))
