"""What our server says, in the words of the Software-Challenge; of some messages nothing."""

from __future__ import annotations

from typing import Final

import msgpack

from triarena.protocol.frames import HEADER
from triarena.protocol.from_server import (
    Authenticated,
    Done,
    Error,
    FromServer,
    Goodbye,
    Joined,
    MatchOver,
    MatchStarted,
    Moved,
    Observing,
    Prepared,
    Refused,
    RoomEvent,
    Snapshot,
    YourTurn,
)
from triarena.protocol.game_values import MississippiQueenPosition
from triarena.protocol.room_views import RoomView
from triarena.server.wire import GOODBYE

from . import answers
from .conversation import Asked, Conversation, Place
from .requests import GAME

IGNORED_REFUSALS: Final = {"step": ("not_paused", "not_started")}
"""By request: what the original does not answer at all, and its clients expect no answer to."""


def tell(
    message: FromServer, packed: bytes | None, conversation: Conversation, mementos: answers.Mementos
) -> list[str]:
    """A message as elements below the root; ``packed`` is its frame, which may hold more than the message itself."""
    places = conversation.places
    match message:
        case Moved(room=room, position=MississippiQueenPosition() as position, move=move):
            return [mementos.of(message, room, position, move)]
        case YourTurn(room=room, ply=ply):
            places[room].ply = ply
            return [answers.move_request(room)]
        case MatchStarted(room=room):
            return _started(message, places[room])
        case MatchOver(room=room):
            return _over(message, places.pop(room, None), conversation)
        case Snapshot(room=room):
            return _present(room, _view(message.view, packed), conversation)
        case RoomEvent():
            return _happened(message, conversation)
        case Refused() | Goodbye():
            return _farewell(message)
        case Error(request=None, room=str(room)) if room in places:
            return _reproached(message, room, places[room])
        case Error(request=None):
            return [answers.errorpacket(message, Asked("room"))]
        case Joined() | Prepared() | Observing() | Authenticated() | Done() | Error():
            return _answer(message, packed, conversation)
        case _:
            return []


def _answer(
    message: Joined | Prepared | Observing | Authenticated | Done | Error,
    packed: bytes | None,
    conversation: Conversation,
) -> list[str]:
    """To the first request that has none."""
    asked = conversation.asked.popleft()
    match message:
        case Joined(room=room):
            _sit(message, conversation)
            return [answers.joined(room)]
        case Prepared(room=room, reservations=codes):
            return [answers.prepared(room, codes)]
        case Observing(room=room):
            conversation.places[room] = Place()
            return [answers.observed(room), *_present(room, _view(message.view, packed), conversation)]
        case Authenticated():
            conversation.admin = True
            return []
        case Error(code=code) if code not in IGNORED_REFUSALS.get(asked.name, ()):
            return [answers.errorpacket(message, asked)]
        case _:
            return []


def _sit(message: Joined, conversation: Conversation) -> None:
    """A seat was taken, or taken back; its room may have ended before, over this connection."""
    red = message.side == "red"
    names = answers.own_names(message.name if red else None, None if red else message.name)
    conversation.places[message.room] = Place(message.side, names)
    if message.room in conversation.awaited:
        conversation.awaited.remove(message.room)


def _reproached(message: Error, room: str, place: Place) -> list[str]:
    if place.begun:
        place.reproach = message.message
        return []
    return [answers.error(room, message.message, place.answer, message.code)]


def _started(message: MatchStarted, place: Place) -> list[str]:
    place.begun = True
    place.names = answers.own_names(message.players.red, message.players.blue)
    told = _welcome(message.room, place)
    if isinstance(message.position, MississippiQueenPosition):
        last = message.plies[-1].move if message.plies else None
        told.append(answers.memento(message.room, message.position, last))
    return told


def _welcome(room: str, place: Place) -> list[str]:
    """Once: to a player, which side it has."""
    if place.welcomed or place.side is None:
        return []
    place.welcomed = True
    return [answers.welcome(room, place.side)]


def _over(message: MatchOver, place: Place | None, conversation: Conversation) -> list[str]:
    """The end of a match, and of the room; who may see a wrong move is told of it first."""
    if place is None:
        return []
    if place.ply is not None:
        conversation.awaited.append(message.room)
    told, result = [], message.result
    offends = place.side in result.detail.offenders
    if result.reason == "illegal_move" and (offends or place.side is None):
        told.append(answers.illegal_move(message.room, result, place.answer))
    if result.reason == "protocol_violation" and offends and place.reproach:
        told.append(answers.error(message.room, place.reproach, place.answer, result.reason))
    end = message.position if isinstance(message.position, MississippiQueenPosition) else None
    told.append(answers.result(message.room, result, place.names, end))
    told.append(answers.left(message.room))
    return told


def _happened(message: RoomEvent, conversation: Conversation) -> list[str]:
    """What administrators are told of a room, and others of theirs. Rooms of other games are none of theirs."""
    info, told = message.info, list[str]()
    if info.game != GAME:
        return []
    if (place := conversation.places.get(info.room)) is not None:
        place.names = answers.own_names(info.red.name, info.blue.name)
    if message.event == "joined" and conversation.admin and not (info.red.reserved or info.blue.reserved):
        told.append(answers.joined_game_room(info.room, info.red.connected + info.blue.connected))
    if place is not None and place.side is None and message.event in ("paused", "resumed"):
        told.append(answers.paused(info.room, paused=info.paused))
    waits = info.paused and info.red.connected and info.blue.connected
    if place is not None and message.event == "joined" and waits:
        told += _welcome(info.room, place)
    return told


def _present(room: str, view: RoomView, conversation: Conversation) -> list[str]:
    """What an observer is shown at first, and when it was too slow for the plies."""
    place = conversation.places[room]
    place.names = answers.own_names(view.info.red.name, view.info.blue.name)
    if not isinstance(view.position, MississippiQueenPosition):
        return []
    last = view.plies[-1].move if view.plies else None
    told = [answers.memento(room, view.position, last)]
    if view.result is not None:
        told += [answers.result(room, view.result, place.names, view.position), answers.left(room)]
        del conversation.places[room]
    return told


def _farewell(message: Refused | Goodbye) -> list[str]:
    """The last words; to who said goodbye itself, only the end of our document."""
    reason = [] if message.code == GOODBYE else [answers.errorpacket(message, Asked("protocol"))]
    return [*reason, "\n</protocol>"]


def _view(view: RoomView | None, packed: bytes | None) -> RoomView:
    """A view; one that was packed before it was put into its message stands in the frame only."""
    if view is None and packed is not None:
        return RoomView.model_validate(msgpack.unpackb(packed[HEADER:])["view"])
    assert view is not None, "what was not packed is whole"
    return view
