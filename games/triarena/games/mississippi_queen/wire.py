"""Moves as plain values (dict, list, str, int): read with every doubt and written canonically.

Unknown keys are ignored, so that old readers survive new writers.
"""

from __future__ import annotations

from typing import assert_never

from triarena.games.core import MalformedMove, Plain, shown

from .geometry import DIRECTIONS, Direction
from .moves import MAX_ACTIONS, MAX_NUMBER, Accelerate, Action, Actions, Advance, Push, Turn

DIRECTION_BY_WORD = {direction.word: direction for direction in DIRECTIONS}


def write_move(move: Actions) -> Plain:
    """The wire form of a move: ``{"type": "actions", "actions": [...]}``."""
    return {"type": "actions", "actions": [_write_action(action) for action in move]}


def read_move(wire: Plain) -> Actions:
    """The move of a wire form. Raises MalformedMove."""
    if not isinstance(wire, dict) or wire.get("type") != "actions":
        raise MalformedMove(f'a move is a map with the type "actions", not {quoted(wire)}')
    actions = wire.get("actions")
    if not isinstance(actions, list):
        raise MalformedMove(f"the actions of a move are a list, not {quoted(actions)}")
    if len(actions) > MAX_ACTIONS:
        raise MalformedMove(f"a move has at most {MAX_ACTIONS} actions, not {len(actions)}")
    return tuple(_read_action(action) for action in actions)


def _write_action(action: Action) -> Plain:
    if isinstance(action, Accelerate):
        return {"type": "accelerate", "by": action.by}
    if isinstance(action, Turn):
        return {"type": "turn", "to": action.to.word}
    if isinstance(action, Advance):
        return {"type": "advance", "distance": action.distance}
    if isinstance(action, Push):
        return {"type": "push", "to": action.to.word}
    assert_never(action)


def _read_action(wire: Plain) -> Action:
    kind = wire.get("type") if isinstance(wire, dict) else None
    if kind == "accelerate":
        return Accelerate(_read_number(wire, "by"))
    if kind == "advance":
        return Advance(_read_number(wire, "distance"))
    if kind == "turn":
        return Turn(_read_target(wire))
    if kind == "push":
        return Push(_read_target(wire))
    raise MalformedMove(f"an action is a map whose type is accelerate, turn, advance or push, not {quoted(wire)}")


def _read_number(wire: dict[str, Plain], key: str) -> int:
    value = wire.get(key)
    if type(value) is not int or abs(value) > MAX_NUMBER:
        raise MalformedMove(f"{key} must be a whole number from -{MAX_NUMBER} to {MAX_NUMBER}, not {quoted(value)}")
    return value


def _read_target(wire: dict[str, Plain]) -> Direction:
    word = wire.get("to")
    if not isinstance(word, str) or word not in DIRECTION_BY_WORD:
        raise MalformedMove(f"to must be one of {', '.join(DIRECTION_BY_WORD)}, not {quoted(word)}")
    return DIRECTION_BY_WORD[word]


def quoted(value: object) -> str:
    """``value`` for an error sentence; costs little even if it is huge or deeply nested."""
    if isinstance(value, str):
        return shown(value[:60])
    if value is None or isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < 10**18):
        return repr(value)
    if isinstance(value, list | dict):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"
