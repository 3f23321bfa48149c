"""One connection's state machine, the same for both ends: bytes in, messages out; messages in, bytes out.

It does no I/O and reads no clock. What may be said when stands in ``table``; this module only follows it, and
knows the one number that travels: the ply of a turn, by which a late move is told from a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from pydantic import TypeAdapter

from .codec import Encoded, Undecodable, decode, encode
from .errors import LocalProtocolError, RemoteProtocolError
from .frames import HEADER, TO_CLIENT, TO_SERVER, FrameReader
from .from_client import FROM_CLIENT, FromClient, Move
from .from_server import FROM_SERVER, Error, FromServer, YourTurn
from .table import ANSWERS, CONNECTION, CROSSING, IN_ROOM, REQUEST_TYPES, ROOM, MessageType, Phase, Place, Role

Out = TypeVar("Out", bound=FromClient | FromServer)
In = TypeVar("In", bound=FromClient | FromServer)

PIPELINE: Final = 32
"""How many requests may be under way unanswered."""
REMEMBERED: Final = 64
"""How many rooms that are over a session remembers, to know what crossed their end."""
ANSWERING: Final = frozenset(ANSWERS.values())
WITHOUT_SEAT: Final = frozenset([Place.OVER, Place.WATCHING])
"""Where a client's word as a player can only be one that crossed the end of its match."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What the peer did wrong; a value, since other people's faults are expected. ``message`` is fit to be sent."""

    code: str
    message: str
    fatal: bool = False
    """The stream can't be trusted any more: say goodbye."""
    late: bool = False
    """Nobody's fault: a move for a turn that has passed."""
    counts: bool = True
    """Whether it is one of the few that a connection may make; one that costs a match is paid for by that."""
    room: str | None = None
    request: str | None = None
    """The type of the request that was not understood, and is to be answered with this fault."""
    id: int | None = None


@dataclass(slots=True)
class _Room:
    place: Place = Place.OUTSIDE
    ply: int = -1
    """Of the latest your_turn."""


class Session(Generic[Out, In]):
    """One end of a connection. Make it with ``client_session()`` or ``server_session()``."""

    __slots__ = ("_incoming", "_over", "_reader", "_requests", "_rooms", "on_payload", "phase", "role")

    def __init__(self, role: Role, incoming: TypeAdapter[In], limit: int) -> None:
        self.role = role
        self.phase = Phase.NEW
        self.on_payload: Callable[[bytes], None] | None = None
        """Told the payload of every frame as it came, before it is understood; for whoever keeps a record."""
        self._incoming = incoming
        self._reader = FrameReader(limit)
        self._requests: list[MessageType] = []
        self._rooms: dict[str, _Room] = {}
        self._over: list[str] = []

    def place(self, room: str) -> Place:
        """Where this connection stands in a room."""
        return self._rooms[room].place if room in self._rooms else Place.OUTSIDE

    def is_outside(self, room: str) -> bool:
        """Whether this connection has nothing to do with a room, nor had as far as is remembered."""
        return self.place(room) is Place.OUTSIDE

    def ply(self, room: str) -> int:
        """The ply of the latest ``your_turn`` in a room; -1 before the first."""
        return self._rooms[room].ply if room in self._rooms else -1

    @property
    def greeting(self) -> str:
        """With what a client begins, for a sentence."""
        return "'hello'"

    @property
    def owes(self) -> bool:
        """Whether the client owes a ``ready`` or a move somewhere, so that its silence means that it thinks."""
        return any(room.place in (Place.STARTING, Place.THINKING) for room in self._rooms.values())

    @property
    def full(self) -> bool:
        """Never: a request too many is refused, and moves are read on."""
        return False

    def send(self, message: Out) -> bytes:
        """The bytes to write for ``message``. Raises LocalProtocolError if it may not be sent now, or is too large."""
        return self.send_encoded(encode(message))

    def send_encoded(self, encoded: Encoded[Out]) -> bytes:
        """Like ``send``, for a message that was packed once for many."""
        problem = self._problem(self.role, encoded.message) or self._too_large(encoded)
        if problem is not None:
            raise LocalProtocolError(problem)
        self._advance(self.role, encoded.message)
        return encoded.data

    def receive(self, data: bytes) -> list[In | Fault]:
        """What ``data`` completes, in order: messages, and faults of the peer. A fatal fault is the last item."""
        self._reader.feed(data)
        items: list[In | Fault] = []
        while self.phase is not Phase.CLOSED:
            try:
                payload = self._reader.next_payload()
                if payload is None:
                    break
                if self.on_payload is not None:
                    self.on_payload(payload)
                items.append(self._accept(decode(payload, self._incoming)))
            except Undecodable as error:
                items.append(self._undecodable(error))
            except RemoteProtocolError as error:
                items.append(Fault(error.code, error.message, fatal=True))
            last = items[-1]
            if isinstance(last, Fault) and last.fatal:
                break
        return items

    def receive_eof(self) -> Fault | None:
        """The stream has ended; a fault if it ended inside a frame."""
        inside = self._reader.mid_frame and self.phase is not Phase.CLOSED
        self.phase = Phase.CLOSED
        return Fault("truncated", "the stream ended inside a frame", fatal=True) if inside else None

    def _accept(self, message: In) -> In | Fault:
        problem = self._problem(self.role.peer, message)
        if problem is None:
            self._advance(self.role.peer, message)
            room = getattr(message, "room", None)
            if type(message) in CROSSING and room is not None and self.place(room) in WITHOUT_SEAT:
                return Fault("no_seat", f"there is no seat of yours in room {room!r} any more", late=True, room=room)
            return message
        room = getattr(message, "room", None) if type(message) in IN_ROOM else None
        if isinstance(message, Move) and room is not None and message.ply <= self.ply(room):
            sentence = f"the move for ply {message.ply} came too late; that turn has passed"
            return Fault("late_move", sentence, late=True, room=room)
        greeting = self.phase is not Phase.OPEN
        id_ = getattr(message, "id", None)
        return Fault("greeting_first" if greeting else "not_now", problem, fatal=greeting, room=room, id=id_)

    def _undecodable(self, error: Undecodable) -> Fault:
        request = REQUEST_TYPES.get(error.type or "")
        if self.role is Role.SERVER and request is not None and self.phase is Phase.OPEN:
            self._requests.append(request)  # it will be answered, like any other
            return Fault(error.code, error.message, request=error.type, id=error.id)
        return Fault(error.code, error.message, fatal=self.phase is not Phase.OPEN, id=error.id)

    def _too_large(self, encoded: Encoded[Out]) -> str | None:
        size, limit = len(encoded.data) - HEADER, TO_SERVER if self.role is Role.CLIENT else TO_CLIENT
        return f"{encoded.message.type!r} takes {size} bytes; the limit is {limit}" if size > limit else None

    def _problem(self, sender: Role, message: Any) -> str | None:
        """Why ``message`` may not be sent now; None if it may."""
        kind = type(message)
        if (sender, kind) not in CONNECTION[self.phase] and not (self.phase is Phase.OPEN and kind in IN_ROOM):
            return f"{_cannot(sender, message)} while the connection is {self.phase.value}{self._hint()}"
        if kind in ANSWERS and len(self._requests) >= PIPELINE:
            return f"{_cannot(sender, message)}: {PIPELINE} requests are unanswered, wait for an answer first"
        if kind is Error:
            mismatch = message.request is not None and not self._awaits(REQUEST_TYPES.get(message.request))
            return f"{_cannot(sender, message)}: it answers no request that was made" if mismatch else None
        if kind in ANSWERING and not (self._requests and ANSWERS[self._requests[0]] is kind):
            return f"{_cannot(sender, message)}: it answers no request that was made"
        return self._room_problem(sender, message) if kind in IN_ROOM else None

    def _room_problem(self, sender: Role, message: Any) -> str | None:
        room, kind = message.room, type(message)
        place = self.place(room)
        knowingly = place in WITHOUT_SEAT and sender is self.role and kind in CROSSING
        if (sender, kind) not in ROOM[place] or knowingly:
            return f"{_cannot(sender, message)} in room {room!r} while its place there is {place.value}"
        if kind is YourTurn and message.ply <= self.ply(room):
            return f"{_cannot(sender, message)}: ply {message.ply} does not follow ply {self.ply(room)}"
        if kind is Move and place is Place.THINKING and message.ply != self.ply(room):
            turn = self.ply(room)
            return f"{_cannot(sender, message)} for ply {message.ply} in room {room!r}; the turn is ply {turn}"
        return None

    def _awaits(self, request: MessageType | None) -> bool:
        return bool(self._requests) and self._requests[0] is request

    def _hint(self) -> str:
        return {Phase.NEW: ": say 'hello' first", Phase.GREETED: ": wait for 'welcome' first"}.get(self.phase, "")

    def _advance(self, sender: Role, message: Any) -> None:
        kind = type(message)
        self.phase = CONNECTION[self.phase].get((sender, kind), self.phase)
        if kind in ANSWERS:
            self._requests.append(kind)
        elif kind in ANSWERING or (kind is Error and message.request is not None):
            del self._requests[0]
        if kind in IN_ROOM:
            self._advance_room(sender, message)

    def _advance_room(self, sender: Role, message: Any) -> None:
        name = message.room
        room = self._rooms.setdefault(name, _Room())
        before, room.place = room.place, ROOM[room.place][sender, type(message)]
        if isinstance(message, YourTurn):
            room.ply = message.ply
        if room.place is Place.OUTSIDE:
            del self._rooms[name]
        elif room.place is Place.OVER and before is not Place.OVER:
            self._forget_old(name)
        elif before is Place.OVER and room.place is not Place.OVER:
            self._over.remove(name)

    def _forget_old(self, name: str) -> None:
        self._over.append(name)
        if len(self._over) > REMEMBERED:
            del self._rooms[self._over.pop(0)]


def _cannot(sender: Role, message: Any) -> str:
    return f"the {sender.value} cannot send {message.type!r}"


def client_session() -> Session[FromClient, FromServer]:
    """The client's end."""
    return Session(Role.CLIENT, FROM_SERVER, TO_CLIENT)


def server_session() -> Session[FromServer, FromClient]:
    """The server's end."""
    return Session(Role.SERVER, FROM_CLIENT, TO_SERVER)
