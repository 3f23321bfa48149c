"""What the server says, as elements of its document: one function for each message of the original.

Each is indented by two blanks below the root, and begins with a line break.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from triarena.games import MoveError
from triarena.games.mississippi_queen import GAME
from triarena.protocol.from_server import Error, Goodbye, Refused
from triarena.protocol.game_values import Actions, MississippiQueenPosition
from triarena.protocol.values import Result, SideName

from .conversation import Asked, Names
from .markup import attributes, element, leaf
from .moves import write_actions
from .requests import EXCEPTIONS
from .state import TEAMS, write_state
from .verdicts import mistake, reproach, write_result


def joined(room: str) -> str:
    """A seat was taken."""
    return _below_root(element("joined", attributes(roomId=room)))


def joined_game_room(room: str, players: int) -> str:
    """To administrators: somebody took a seat, and so many are taken now."""
    return _below_root(element("joinedGameRoom", attributes(roomId=room, playerCount=players)))


def prepared(room: str, codes: Sequence[str | None]) -> str:
    """A room was made; a code for each seat that is reserved."""
    reservations = [leaf("reservation", code) for code in codes if code is not None]
    return _below_root(element("prepared", attributes(roomId=room), reservations))


def observed(room: str) -> str:
    """The room is watched."""
    return _below_root(element("observed", attributes(roomId=room)))


def left(room: str) -> str:
    """The room is gone."""
    return _below_root(element("left", attributes(roomId=room)))


def errorpacket(error: Error | Refused | Goodbye, asked: Asked) -> str:
    """A request was refused, or the connection is about to be closed. ``code`` is ours, stable."""
    message = f"{EXCEPTIONS.get(error.code, 'Exception')}: {error.message}"
    original = element("originalRequest", f' class="{asked.name}"' + attributes(**asked.told))
    return _below_root(element("errorpacket", attributes(message=message, code=error.code), [original]))


def welcome(room: str, side: SideName) -> str:
    """Which side the player has."""
    return _in_room(room, element("data", ' class="welcomeMessage"' + attributes(color=TEAMS[side])))


def memento(room: str, position: MississippiQueenPosition, last: Any) -> str:
    """The state of the game; ``last`` is the move that led to it, if it is one of this game."""
    state = write_state(position, last if isinstance(last, Actions) else None)
    return _in_room(room, element("data", ' class="memento"', [state]))


def move_request(room: str) -> str:
    """The player is to move."""
    return _in_room(room, element("data", ' class="moveRequest"'))


def paused(room: str, *, paused: bool) -> str:
    """To observers: the game was paused, or goes on."""
    return _in_room(room, element("data", ' class="paused"' + attributes(paused=paused)))


def error(room: str, message: str, move: Actions | None, code: str | None = None) -> str:
    """A move was not accepted; the move as it was read."""
    written = [] if move is None else [write_actions(move.actions)]
    original = element("originalMessage", ' class="move"', written)
    return _in_room(
        room, element("data", ' class="error"' + attributes(message=reproach(message), code=code), [original])
    )


def illegal_move(room: str, result: Result, move: Actions | None) -> str:
    """The move that ended a match was against the rules; for observers it is read from the result."""
    if move is None:
        move = _parsed(result.detail.move or "")
    return error(room, mistake(result.detail.code), move, result.detail.code)


def result(room: str, ended: Result, names: Names, end: MississippiQueenPosition | None) -> str:
    """The game is over."""
    return _in_room(room, write_result(ended, names, end))


def own_names(red: str | None, blue: str | None) -> Names:
    """The players' names; who plays under the name of the team has none."""
    return {"red": None if red == TEAMS["red"] else red, "blue": None if blue == TEAMS["blue"] else blue}


class Mementos:
    """The latest state that was written: all who follow a room are told the same one, one after the other."""

    __slots__ = ("_message", "_text")

    def __init__(self) -> None:
        self._message: object = None
        self._text = ""

    def of(self, message: object, room: str, position: MississippiQueenPosition, last: Any) -> str:
        """The memento of a message, which is written when the first one is told of it."""
        if message is not self._message:
            self._message, self._text = message, memento(room, position, last)
        return self._text


def _parsed(text: str) -> Actions | None:
    try:
        return Actions.model_validate(GAME.write_move(GAME.parse(text)))
    except MoveError:
        return None


def _in_room(room: str, data: str) -> str:
    return _below_root(element("room", attributes(roomId=room), [data]))


def _below_root(text: str) -> str:
    return "\n  " + text.replace("\n", "\n  ")
