"""What a client says, as messages of our own protocol; which of them may be said now, the conversation tells."""

from __future__ import annotations

from typing import Final

from triarena.protocol.from_client import FromClient, Move
from triarena.protocol.from_server import Error
from triarena.protocol.session import Fault
from triarena.server.wire import Bye, Declined

from .conversation import Asked, Conversation
from .moves import Directionless, Unreadable, for_the_engine, read_actions
from .reading import Element
from .requests import REQUESTS, BadRequest

CLOSING: Final = ("sc.protocol.CloseConnection", "close")
"""How a client says that it goes; the second one is what clients in Python say, which the original took amiss."""

NOT_ASKED: Final = "a move came although none was asked for"

MESSAGES: Final = frozenset({"room", *CLOSING, *REQUESTS})
"""The names of all messages."""


def understand(element: Element, conversation: Conversation, rules: str) -> FromClient | Fault | Declined | Bye | None:
    """One of MESSAGES, or what is wrong with it; None if it came too late to matter. ``rules`` is the profile of the
    rooms that are opened.
    """
    try:
        if element.name == "room":
            return _in_room(element, conversation)
        if element.name in CLOSING:
            return Bye()
        return _request(element, conversation, rules)
    except Unreadable as error:
        return Fault(error.code, error.message, fatal=True)


def _request(element: Element, conversation: Conversation, rules: str) -> FromClient | Declined:
    conversation.asked.append(Asked(element.name, element.attributes))
    try:
        return REQUESTS[element.name](element, rules)
    except BadRequest as error:
        return Declined(Error(code=error.code, message=error.message, request=element.name))


def _in_room(element: Element, conversation: Conversation) -> FromClient | Fault | Declined | None:
    """A move. Whatever else is said in a room, or in one that is over, is refused like a request; but not the move that
    was asked for there just before its end. The original takes that without a word, and bots in Python die of one.

    A move out of turn costs its match at most: it is not counted against the connection, over which other matches may
    be played. How many may come, the limit of messages tells.
    """
    room, data = element.attributes.get("roomId", ""), element.child("data")
    if data is None or data.attributes.get("class") != "move":
        return _declined(
            "not_a_move", "only moves may be sent to a room, as <data class='move'>", element, conversation
        )
    place = conversation.places.get(room)
    if room in conversation.awaited:
        conversation.awaited.remove(room)
        return None
    if place is None or place.side is None:
        return _declined("unknown_room", f"you play in no room {room[:40]!r}", element, conversation)
    place.answer = None  # should this one not be readable, the one before is not what was said
    try:
        place.answer = read_actions(data)
    except Directionless as error:
        return Fault("bad_value", str(error), room=room, counts=False)
    if place.ply is None:
        return Fault("not_now", NOT_ASKED, room=room, counts=False)
    ply, place.ply = place.ply, None
    return Move.model_construct(room=room, ply=ply, move=for_the_engine(place.answer))


def _declined(code: str, message: str, element: Element, conversation: Conversation) -> Declined:
    """What is said in a room and is no move of a player there; also one that came too late for its match."""
    conversation.asked.append(Asked(element.name, element.attributes))
    return Declined(Error(code=code, message=message, request=element.name))
