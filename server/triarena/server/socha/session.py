"""One connection's side of the Software-Challenge's XML: its bytes to our protocol's messages, and back.

It stands where a session of our own protocol stands, so that behind it are the same guests, rooms and referee. What
the XML does not say, it adds (which ply a move is for); what the XML has no word for, it leaves out. No I/O, no clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgpack

from triarena.protocol.codec import Encoded
from triarena.protocol.frames import HEADER
from triarena.protocol.from_client import FromClient, Move
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
    RoomView,
    Snapshot,
    YourTurn,
)
from triarena.protocol.game_values import Actions, MississippiQueenPosition
from triarena.protocol.session import PIPELINE, Fault
from triarena.protocol.table import Phase
from triarena.protocol.values import SideName
from triarena.server.wire import GOODBYE, Bye

from . import answers
from .moves import Directionless, Unreadable, read_actions
from .reading import Element, XmlReader
from .requests import REQUESTS, Asked, BadRequest

CLOSING: Final = ("sc.protocol.CloseConnection", "close")
"""How a client says that it goes; the second one is what clients in Python say, which the original took amiss."""
IGNORED_REFUSALS: Final = {"step": ("not_paused", "not_started")}
"""By request: what the original does not answer at all, and its clients expect no answer to."""


@dataclass(slots=True)
class Place:
    """This connection in one room."""

    side: SideName | None
    """Its side; None if it watches."""
    names: dict[SideName, str | None]
    """Of the players who have one of their own."""
    welcomed: bool = False
    asked: int | None = None
    """The ply for which it owes a move."""
    answer: Actions | None = None
    """Its latest move, as the original sends it back if it was wrong."""


class XmlSession:
    """Make one for each connection; see ``Wire`` for what it does."""

    __slots__ = ("_admin", "_asked", "_begun", "_closed", "_mementos", "_places", "_reader", "_rules", "on_payload")

    def __init__(self, rules: str, mementos: answers.Mementos) -> None:
        """``rules`` is the profile of the rooms that are opened over it; ``mementos`` is shared by all sessions."""
        self.on_payload: Callable[[bytes], None] | None = None
        self._rules = rules
        self._mementos = mementos
        self._reader = XmlReader()
        self._asked: deque[Asked] = deque()
        self._places: dict[str, Place] = {}
        self._admin = False
        self._begun = False
        self._closed = False

    @property
    def phase(self) -> Phase:
        """New until the client has opened its document."""
        if self._closed:
            return Phase.CLOSED
        return Phase.OPEN if self._reader.opened else Phase.NEW

    @property
    def owes(self) -> bool:
        """Always: there is no ping in this protocol."""
        return True

    # -- from the client -----------------------------------------------------------------------

    def receive(self, data: bytes) -> Sequence[FromClient | Fault | Bye]:
        """See ``Wire``."""
        if self.on_payload is not None:
            self.on_payload(data)
        items: list[FromClient | Fault | Bye] = []
        for element in self._reader.feed(data):
            item = self._understood(element)
            items.append(item)
            if isinstance(item, Bye) or (isinstance(item, Fault) and item.fatal):
                return items
        if self._reader.failure is not None:
            items.append(Fault(self._reader.failure.code, self._reader.failure.message, fatal=True))
        elif self._reader.closed:
            items.append(Bye())
        return items

    def receive_eof(self) -> Fault | None:
        """See ``Wire``; these clients may hang up at any time."""
        self._closed = True
        return None

    def _understood(self, element: Element) -> FromClient | Fault | Bye:
        try:
            if element.name == "room":
                return self._in_room(element)
            if element.name in CLOSING:
                return Bye()
            return self._request(element)
        except Unreadable as error:
            return Fault(error.code, error.message, fatal=True)

    def _request(self, element: Element) -> FromClient | Fault:
        reader = REQUESTS.get(element.name)
        if reader is None:
            raise Unreadable("unknown_element", f"there is no message <{element.name[:40]}>")
        if len(self._asked) >= PIPELINE:
            return Fault("not_now", f"{PIPELINE} requests are unanswered; wait for an answer first")
        self._asked.append(Asked(element.name, element.attributes))
        try:
            return reader(element, self._rules)
        except BadRequest as error:
            return Fault(error.code, error.message, request=element.name)

    def _in_room(self, element: Element) -> FromClient | Fault:
        """A move; whatever else is said in a room is answered, and forgotten."""
        room, data = element.attributes.get("roomId", ""), element.child("data")
        kind = None if data is None else data.attributes.get("class")
        if data is None or kind != "move":
            self._asked.append(Asked("room", element.attributes))
            return Fault("not_a_move", "only moves may be sent to a room: <data class='move'>", request="room")
        place = self._places.get(room)
        if place is None or place.side is None:
            self._asked.append(Asked("room", element.attributes))
            return Fault("unknown_room", f"you play in no room {room[:40]!r}", request="room")
        try:
            place.answer = read_actions(data)
        except Directionless as error:
            return Fault("bad_value", str(error), room=room)
        if place.asked is None:
            return Fault("not_now", "a move came although none was asked for", room=room)
        ply, place.asked = place.asked, None
        return Move.model_construct(room=room, ply=ply, move=place.answer)

    # -- to the client -------------------------------------------------------------------------

    def send(self, message: FromServer) -> bytes:
        """See ``Wire``."""
        return self._document(self._told(message, None))

    def send_encoded(self, encoded: Encoded[Any]) -> bytes:
        """See ``Wire``."""
        return self._document(self._told(encoded.message, encoded.data))

    def _document(self, elements: list[str]) -> bytes:
        """Messages as the next piece of our document; its root stands before the first one."""
        if not elements:
            return b""
        text = "".join(elements)
        if not self._begun:
            self._begun = True
            text = f"<protocol>{text}"
        return text.encode()

    def _told(self, message: FromServer, packed: bytes | None) -> list[str]:
        match message:
            case Moved(room=room, position=MississippiQueenPosition() as position, move=move):
                return [self._mementos.of(message, room, position, move)]
            case YourTurn():
                self._places[message.room].asked = message.ply
                return [answers.move_request(message.room)]
            case MatchStarted():
                return self._started(message)
            case MatchOver():
                return self._over(message)
            case RoomEvent():
                return self._happened(message)
            case Snapshot(room=room):
                return self._present(room, _view(message.view, packed))
            case Error(request=None, room=str(room)) if room in self._places:
                return [answers.error(room, message.message, self._places[room].answer)]
            case Error() if message.request is None:
                return [answers.errorpacket(message, Asked("room", {}))]
            case Refused() | Goodbye():
                return self._farewell(message)
            case Joined() | Prepared() | Observing() | Authenticated() | Done() | Error():
                return self._answer(message, self._asked.popleft(), packed)
            case _:
                return []  # the XML has no word for it

    def _answer(
        self,
        message: Joined | Prepared | Observing | Authenticated | Done | Error,
        asked: Asked,
        packed: bytes | None,
    ) -> list[str]:
        match message:
            case Joined(room=room, side=side):
                self._places[room] = Place(side, {"red": None, "blue": None})
                return [answers.joined(room)]
            case Prepared(room=room, reservations=codes):
                return [answers.prepared(room, codes)]
            case Observing(room=room):
                self._places[room] = Place(None, {"red": None, "blue": None})
                return [answers.observed(room), *self._present(room, _view(message.view, packed))]
            case Authenticated():
                self._admin = True
                return []
            case Error(code=code) if code not in IGNORED_REFUSALS.get(asked.name, ()):
                return [answers.errorpacket(message, asked)]
            case _:
                return []

    def _started(self, message: MatchStarted) -> list[str]:
        place = self._places[message.room]
        place.names = answers.own_names(message.players.red, message.players.blue)
        told = self._welcome(message.room, place)
        if isinstance(message.position, MississippiQueenPosition):
            told.append(answers.memento(message.room, message.position, None))
        return told

    def _welcome(self, room: str, place: Place) -> list[str]:
        if place.welcomed or place.side is None:
            return []
        place.welcomed = True
        return [answers.welcome(room, place.side)]

    def _over(self, message: MatchOver) -> list[str]:
        """The end of a match, and of the room; who sees a wrong move is told of it first."""
        place = self._places.pop(message.room, None)
        if place is None:
            return []
        told, result = [], message.result
        watches = place.side is None
        if result.reason == "illegal_move" and (watches or place.side in result.detail.offenders):
            told.append(answers.illegal_move(message.room, result, place.answer))
        end = message.position if isinstance(message.position, MississippiQueenPosition) else None
        told.append(answers.result(message.room, result, place.names, end))
        told.append(answers.left(message.room))
        return told

    def _happened(self, message: RoomEvent) -> list[str]:
        """What administrators are told of a room, and others of theirs."""
        info, told = message.info, []
        place = self._places.get(info.room)
        if message.event == "joined" and self._admin and not (info.red.reserved or info.blue.reserved):
            told.append(answers.joined_game_room(info.room, info.red.connected + info.blue.connected))
        if place is None:
            return told
        if place.side is None and message.event in ("paused", "resumed"):
            told.append(answers.paused(info.room, paused=info.paused))
        if message.event == "joined" and info.paused and info.red.connected and info.blue.connected:
            told += self._welcome(info.room, place)
        return told

    def _present(self, room: str, view: RoomView) -> list[str]:
        """What an observer is shown at first, and when it was too slow for the plies."""
        place = self._places[room]
        place.names = answers.own_names(view.info.red.name, view.info.blue.name)
        if not isinstance(view.position, MississippiQueenPosition):
            return []
        last = view.plies[-1].move if view.plies else None
        told = [answers.memento(room, view.position, last)]
        if view.result is not None:
            told.append(answers.result(room, view.result, place.names, view.position))
            told.append(answers.left(room))
            del self._places[room]
        return told

    def _farewell(self, message: Refused | Goodbye) -> list[str]:
        """The last words; to who said goodbye itself, only the end of our document."""
        self._closed = True
        reason = [] if message.code == GOODBYE else [answers.errorpacket(message, Asked("protocol", {}))]
        return [*reason, "\n</protocol>"]


def _view(view: RoomView | None, packed: bytes | None) -> RoomView:
    """A view; one that was packed before it was put into its message stands in the bytes only."""
    if view is not None or packed is None:
        assert view is not None, "a message that is not packed is whole"
        return view
    return RoomView.model_validate(msgpack.unpackb(packed[HEADER:])["view"])
