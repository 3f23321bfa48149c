"""Moves of the Software-Challenge: ``<actions>`` to the wire form of our protocol, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from triarena.protocol.game_values import Accelerate, Action, Actions, Advance, Direction, Push, Turn

from .markup import attributes, element
from .reading import Element

DIRECTIONS: Final[dict[str, Direction]] = {
    "RIGHT": "right",
    "DOWN_RIGHT": "down_right",
    "DOWN_LEFT": "down_left",
    "LEFT": "left",
    "UP_LEFT": "up_left",
    "UP_RIGHT": "up_right",
}
FARTHEST: Final = 99
"""A greater number means the same, for it is as illegal; our engine reads none beyond it."""
GREATEST: Final = 2**31 - 1
"""The original reads no greater number, and none below the negative of the next one."""
_NUMBER = re.compile(r"[+-]?[0-9]+", re.ASCII)
DIGITS: Final = len(str(GREATEST))


class Unreadable(Exception):
    """What was sent is none of the messages. ``code`` is stable: ``unknown_element``, ``bad_value``."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Directionless(Exception):
    """An action lacks its direction: well-formed, but no action; ``str(error)`` is a sentence."""


def read_actions(data: Element) -> Actions:
    """The move in a ``data`` element, as it was said; one without actions is a move, too, though an illegal one.

    Raises Unreadable or Directionless. Its length is the engine's affair.
    """
    unknown = next((child.name for child in data.children if child.name != "actions"), None)
    if unknown is not None:
        raise Unreadable("unknown_element", f"a move has <actions>, and no <{unknown[:40]}>")
    listed = data.child("actions")
    actions = [] if listed is None else [_read_action(one) for one in listed.children]
    return Actions.model_construct(actions=actions)


def for_the_engine(said: Actions) -> Actions:
    """The same move, with no number in it that our engine does not read."""
    return Actions.model_construct(actions=[_within_reach(action) for action in said.actions])


def write_actions(actions: Iterable[Action]) -> str:
    """The ``<actions>`` element of a move."""
    return element("actions", "", [_write_action(action) for action in actions])


def _read_action(one: Element) -> Action:
    reader = _READERS.get(one.name)
    if reader is None:
        raise Unreadable("unknown_element", f"there is no action <{one.name[:40]}>; there are {', '.join(_READERS)}")
    return reader(one)


def _number(one: Element, name: str) -> int:
    """A whole number; one that is missing is 0, as in the original."""
    text = one.attributes.get(name, "0")
    if not _NUMBER.fullmatch(text):
        raise Unreadable("bad_value", f"{name} of <{one.name}> must be a whole number, not {text[:40]!r}")
    digits = text.lstrip("+-").lstrip("0") or "0"
    number = int(digits[: DIGITS + 1]) * (-1 if text.startswith("-") else 1)  # Python reads none of thousands of digits
    if not -GREATEST - 1 <= number <= GREATEST:
        raise Unreadable("bad_value", f"{name} of <{one.name}> must be a number of 32 bits, not {text[:40]}")
    return number


def _direction(one: Element) -> Direction:
    word = one.attributes.get("direction")
    if word is None:
        raise Directionless(f"a <{one.name}> {NO_DIRECTION}")
    if word not in DIRECTIONS:
        known = ", ".join(DIRECTIONS)
        raise Unreadable("bad_value", f"direction of <{one.name}> must be one of {known}, not {word[:40]!r}")
    return DIRECTIONS[word]


NO_DIRECTION: Final = "has no direction"
"""How the sentence about an action ends that lacks it."""
_READERS: Final[dict[str, Callable[[Element], Action]]] = {
    "acceleration": lambda one: Accelerate.model_construct(by=_number(one, "acc")),
    "turn": lambda one: Turn(to=_direction(one)),
    "advance": lambda one: Advance.model_construct(distance=_number(one, "distance")),
    "push": lambda one: Push(to=_direction(one)),
}


def _within_reach(action: Action) -> Action:
    match action:
        case Accelerate(by=by):
            return Accelerate(by=max(-FARTHEST, min(FARTHEST, by)))
        case Advance(distance=distance):
            return Advance(distance=max(-FARTHEST, min(FARTHEST, distance)))
        case _:
            return action


def _write_action(action: Action) -> str:
    match action:
        case Accelerate(by=by):
            return element("acceleration", attributes(acc=by))
        case Turn(to=to):
            return element("turn", attributes(direction=to.upper()))
        case Advance(distance=distance):
            return element("advance", attributes(distance=distance))
        case Push(to=to):
            return element("push", attributes(direction=to.upper()))
