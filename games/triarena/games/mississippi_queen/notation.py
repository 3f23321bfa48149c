"""The text of a move: ``A1`` accelerate, ``TDR`` turn to, ``M2`` advance, ``PUL`` push, joined by blanks."""

from __future__ import annotations

import re
from typing import assert_never

from triarena.games.core import MalformedMove, shown

from .geometry import DIRECTIONS
from .moves import MAX_ACTIONS, Accelerate, Action, Actions, Advance, Push, Turn

_ACTION = re.compile(r"([AM])(-?[1-9][0-9]?|0)|([TP])(R|DR|DL|L|UL|UR)")
_BY_CODE = {direction.code: direction for direction in DIRECTIONS}


def format_move(move: Actions) -> str:
    """The canonical text of a move."""
    return " ".join(map(_format_action, move))


def parse_move(text: str) -> Actions:
    """The move of a text; small letters and any white space between the actions will do. Raises MalformedMove."""
    words = text.split(None, MAX_ACTIONS)
    if not words:
        raise MalformedMove("an empty text is no move; a move looks like A1 TDR M2")
    if len(words) > MAX_ACTIONS:
        raise MalformedMove(f"a move has at most {MAX_ACTIONS} actions")
    return tuple(map(_parse_action, words))


def _format_action(action: Action) -> str:
    if isinstance(action, Advance):
        return f"M{action.distance}"
    if isinstance(action, Turn):
        return f"T{action.to.code}"
    if isinstance(action, Push):
        return f"P{action.to.code}"
    if isinstance(action, Accelerate):
        return f"A{action.by}"
    assert_never(action)


def _parse_action(word: str) -> Action:
    found = _ACTION.fullmatch(word.upper())
    if found is None:
        raise MalformedMove(f"{shown(word[:60])} is no action; actions look like A1, TDR, M2, PUL")
    number_kind, number, direction_kind, code = found.groups()
    if number_kind is not None:
        return Accelerate(int(number)) if number_kind == "A" else Advance(int(number))
    return Turn(_BY_CODE[code]) if direction_kind == "T" else Push(_BY_CODE[code])
