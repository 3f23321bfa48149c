"""What clients ask for outside of a game, as requests of our own protocol.

A missing attribute counts as false, as in the original; those that are unknown are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from triarena.protocol.from_client import (
    Authenticate,
    Cancel,
    FromClient,
    Join,
    JoinReserved,
    JoinRoom,
    Observe,
    Pause,
    Prepare,
    Request,
    Resume,
    Slot,
    Step,
)

from .reading import Element

GAME_TYPE: Final = "swc_2024_mississippi_queen"
"""How the original calls the game."""
GAME: Final = "mississippi_queen"
LONGEST_NAME: Final = 40
EXCEPTIONS: Final = {
    "not_administrator": "UnauthenticatedException",
    "wrong_secret": "AuthenticationFailedException",
    "throttled": "AuthenticationFailedException",
    "unknown_reservation": "UnknownReservationException",
    "reservation_used": "UnknownReservationException",
    "reservation_expired": "UnknownReservationException",
    "unknown_room": "GameRoomException",
    "room_full": "GameRoomException",
    "seat_reserved": "GameRoomException",
    "unknown_game_type": "UnknownGameTypeException",
}
"""What the original calls the reason of a refusal, by our codes."""
ATTRIBUTES: Final = {"room": "roomId", "reservation": "reservationCode", "secret": "password"}
"""What the original calls our fields."""
R = TypeVar("R", bound=Request)


class BadRequest(Exception):
    """A request that can't be made so. ``code`` is stable: ``invalid_message``, ``unknown_game_type``."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def _join(one: Element, rules: str) -> Join:
    _check_type(one)
    return Join(game=GAME, options={"rules": rules}, updates="moves")


def _join_room(one: Element, rules: str) -> JoinRoom:
    return _made(JoinRoom, one, room=one.attributes.get("roomId"), updates="moves")


def _join_prepared(one: Element, rules: str) -> JoinReserved:
    return _made(JoinReserved, one, reservation=one.attributes.get("reservationCode"), updates="moves")


def _authenticate(one: Element, rules: str) -> Authenticate:
    return _made(Authenticate, one, secret=one.attributes.get("password"))


def _prepare(one: Element, rules: str) -> Prepare:
    _check_type(one)
    slots = _slots([child for child in one.children if child.name == "slot"])
    return _made(Prepare, one, game=GAME, options={"rules": rules}, slots=slots, paused=_flag(one, "pause"))


def _observe(one: Element, rules: str) -> Observe:
    return _made(Observe, one, room=one.attributes.get("roomId"))


def _pause(one: Element, rules: str) -> Pause | Resume:
    room = one.attributes.get("roomId")
    return _made(Pause, one, room=room) if _flag(one, "pause") else _made(Resume, one, room=room)


def _step(one: Element, rules: str) -> Step:
    return _made(Step, one, room=one.attributes.get("roomId"))


def _cancel(one: Element, rules: str) -> Cancel:
    return _made(Cancel, one, room=one.attributes.get("roomId"))


REQUESTS: Final[dict[str, Callable[[Element, str], FromClient]]] = {
    "join": _join,
    "joinRoom": _join_room,
    "joinPrepared": _join_prepared,
    "authenticate": _authenticate,
    "prepare": _prepare,
    "observe": _observe,
    "pause": _pause,
    "step": _step,
    "cancel": _cancel,
}
"""By the name of their element; each is given that, and the rules by which rooms are opened. Raises BadRequest."""


def _check_type(one: Element) -> None:
    named = one.attributes.get("gameType", GAME_TYPE if one.name == "join" else "")
    if named != GAME_TYPE:
        raise BadRequest("unknown_game_type", f"this server plays {GAME_TYPE}, not {named[:60]!r}")


def _made(kind: type[R], one: Element, **fields: Any) -> R:
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = str(first["loc"][0])
        if field in ATTRIBUTES and fields[field] is None:
            raise BadRequest("invalid_message", f"<{one.name}> needs its attribute {ATTRIBUTES[field]}") from None
        where = ATTRIBUTES.get(field) or ".".join(str(part) for part in first["loc"])
        raise BadRequest("invalid_message", f"<{one.name}> is invalid ({where}): {first['msg'][:200]}") from None


def _slots(asked: list[Element]) -> list[Slot]:
    """The seats. Names that differ still do when they are made of what names may be made of here."""
    said = [one.attributes.get("displayName", "") for one in asked]
    names = [_cleaned(name) for name in said]
    if len(names) == 2 and said[0] != said[1] and names[0] and names[0] == names[1]:
        numbered = (f"{names[1][: LONGEST_NAME - 2]}-{number}" for number in (2, 3))
        names[1] = next(name for name in numbered if name != names[0])
    return [
        Slot(name=name or None, timed=_flag(one, "canTimeout"), reserved=_flag(one, "reserved"))
        for one, name in zip(asked, names, strict=True)
    ]


def _cleaned(name: str) -> str:
    """What is left of a name."""
    return re.sub(r"[^\w .+-]", "_", name).strip()[:LONGEST_NAME].strip()


def _flag(one: Element, name: str) -> bool:
    return one.attributes.get(name, "").lower() == "true"
