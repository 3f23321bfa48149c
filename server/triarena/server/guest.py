"""A client as the lobby sees it: who it is, where it sits, and what becomes of what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import structlog
import trio

from triarena.games import AnyGame, Side
from triarena.protocol import from_client as c
from triarena.protocol.from_server import Done, Error, Left, Welcome
from triarena.protocol.identity import token_digest
from triarena.protocol.session import Fault
from triarena.protocol.table import ANSWERS

from .connection import Connection
from .events import Gone, HasMoved, IsReady, Surrendered
from .handler import Loss
from .refusal import Refusal
from .results import EMPTY_ROOM
from .room import Room
from .seat import Seat
from .terms import Terms

if TYPE_CHECKING:
    from .lobby import Lobby


log = structlog.get_logger()

Stored: TypeAlias = c.JoinReserved | c.Prepare | c.Pause | c.Resume | c.Step | c.Cancel
STORED = (c.JoinReserved, c.Prepare, c.Pause, c.Resume, c.Step, c.Cancel)
"""The requests that are answered when something has been stored."""


class Guest:
    """The handler of one connection."""

    __slots__ = (  # as in Connection
        "_lobby",
        "_unanswered",
        "admin",
        "connection",
        "has_gone",
        "name",
        "proven",
        "rooms",
        "software",
        "token",
        "watching",
    )

    def __init__(self, connection: Connection, lobby: Lobby) -> None:
        self.connection = connection
        self.name: str | None = None
        self.software = ""
        self.token: str | None = None
        """The digest of the token that came with its ``hello``."""
        self.admin = False
        self.proven = False
        """Its name belongs to a bot, and it gave that bot's token."""
        self.rooms: dict[str, Room] = {}
        """Where it has a seat, by room."""
        self.watching: dict[str, Room] = {}
        self.has_gone = False
        self._lobby = lobby
        self._unanswered: list[c.FromClient | Error] = []
        """Requests in the order of their answers, if the first one's takes time; and answers that wait for theirs."""
        connection.on_drained = self._drained

    def must_know(self, game: AnyGame) -> None:
        """Raises Refusal if its protocol has no words for a game."""

    def may_play(self, terms: Terms) -> None:
        """Raises Refusal if its players don't know what a room is about."""
        self.must_know(terms.game)

    def called(self, side: Side) -> str:
        """The name under which it plays, unless the seat has one of its own."""
        return self.name or f"guest{self.connection.number}"

    def is_secret(self, offered: str) -> bool:
        """Whether something else than the administrator's secret makes it an administrator, too."""
        return False

    def heard(self, message: c.FromClient, at: float) -> None:
        """Act on a message; a request that can't be granted is answered with the reason.

        What is answered only when it is stored does not hold up the reader, since a move may come next: other
        requests wait behind it, moves do not.
        """
        if isinstance(message, STORED) or (self._unanswered and type(message) in ANSWERS):
            self._queue(message)
            return
        try:
            self._act(message, at)
        except Refusal as refusal:
            self._refuse(message, refusal)

    def misread(self, answer: Error) -> None:
        """It made a request that could not be read; ``answer`` is sent when it is its turn."""
        if self._unanswered:
            self._queue(answer)
        else:
            self.connection.post(answer)

    def _queue(self, item: c.FromClient | Error) -> None:
        self._unanswered.append(item)
        if len(self._unanswered) == 1:
            self._lobby.start_soon(self._answer_in_turn)

    async def _answer_in_turn(self) -> None:
        """Not a task of the connection's: what has been begun is done, though the client may be gone meanwhile."""
        try:
            while self._unanswered and not self.has_gone:
                item = self._unanswered[0]
                if isinstance(item, Error):
                    self.connection.post(item)
                else:
                    await self._grant(item)
                del self._unanswered[0]
        except Exception:
            log.exception("request_failed", connection=self.connection.number)
            self.connection.close("internal_error", "the server made an error and closes this connection")

    async def _grant(self, message: c.FromClient) -> None:
        try:
            if isinstance(message, STORED):
                await self._act_when_stored(message)
            else:
                self._act(message, trio.current_time())
        except Refusal as refusal:
            self._refuse(message, refusal)

    def _refuse(self, message: c.FromClient, refusal: Refusal) -> None:
        answers = isinstance(message, c.Request)
        self.connection.post(
            Error(
                code=refusal.code,
                message=refusal.message,
                request=message.type if answers else None,
                room=getattr(message, "room", None),
                id=getattr(message, "id", None),
            )
        )

    def violated(self, fault: Fault) -> None:
        """It said in a room what it may not say there now: with a running match that is a forfeit."""
        room = self.rooms.get(fault.room or "")
        if room is None or room.referee is None:
            return
        seat = room.seat_of(self.connection)
        if seat is not None:
            sentence = f"{seat.side.value} broke the protocol: {fault.message}"
            room.put(Gone(seat.side, "protocol_violation", sentence))

    def displaces(self, room: Room) -> bool:
        """Whether its reservation code takes a seat from the older connection that holds it. Ours has ``rejoin`` for
        that, so that a code which two have by mistake is told as such.
        """
        return False

    def came_to_the_end(self, room: Room) -> None:
        """It has taken a seat back in a room that is over, and is about to be told how that ended."""

    def gone(self) -> None:
        """The connection is over: seats are given back, running matches hear of it."""
        self.has_gone = True
        self._lobby.enlisting.gone(self)
        for room in list(self.rooms.values()):
            for seat in room.seats.values():
                if seat.line is self.connection:
                    self._lose(room, seat)
        for room in self.watching.values():
            room.gallery.remove(self.connection)
        self.rooms.clear()
        self.watching.clear()

    def _lose(self, room: Room, seat: Seat) -> None:
        if room.result is not None or room.broken_off or self._lobby.all_ends():
            seat.line = None  # it may come back, and be told the end again, or go on
        elif room.referee is None:
            self._lobby.seating.vacate(room, seat)
        else:
            room.lose(seat, self.connection.loss)

    def _drained(self) -> None:
        for room in list(self.watching.values()):
            room.drained(self.connection)

    def _act(self, message: c.FromClient, at: float) -> None:
        lobby, connection = self._lobby, self.connection
        match message:
            case c.Move():
                self._tell(message.room, HasMoved(self._side(message.room), message.ply, message.move.model_dump(), at))
            case c.Ready():
                self._tell(message.room, self._readiness(message.room))
            case c.Surrender():
                self._tell(message.room, Surrendered(self._side(message.room)))
            case c.Leave():
                self._leave(message)
            case c.Hello():
                self._greet(message)
            case c.Join():
                lobby.seating.join(self, message)
            case c.JoinRoom():
                lobby.seating.join_room(self, message)
            case c.Rejoin():
                lobby.seating.rejoin(self, message)
            case c.Observe():
                lobby.observe(self, message)
            case c.ListRooms():
                connection.post_encoded(lobby.list_rooms(message))
            case c.Authenticate():
                lobby.administration.authenticate(self, message)
            case c.Enlist():
                lobby.enlisting.enlist(self, message)
            case c.Kick():
                connection.post(Done(id=message.id, message=lobby.administration.kick(self, message)))
            case c.Enrol() | c.Invite() | c.Dismiss() | c.ListPlayers():
                connection.post(lobby.administration.organise(self, message))
            case c.JoinReserved() | c.Prepare() | c.Pause() | c.Resume() | c.Step() | c.Cancel():
                raise AssertionError(f"{message.type} is one of STORED")
            case c.Ping() | c.Pong():
                pass  # the connection's affair

    async def _act_when_stored(self, message: Stored) -> None:
        lobby = self._lobby
        match message:
            case c.JoinReserved():
                await lobby.seating.join_reserved(self, message)
            case c.Prepare():
                await self._prepare(message)
            case c.Pause() | c.Resume() | c.Step() | c.Cancel():
                sentence = await lobby.administration.control(self, message)
                self.connection.post(Done(id=message.id, message=sentence))

    async def _prepare(self, message: c.Prepare) -> str:
        """Make a room; its name. If nobody was told of it, since who asked has gone meanwhile, it is closed again."""
        prepared = await self._lobby.administration.prepare(self, message)
        log.info("administrator", request="prepare", room=prepared.room, address=self.connection.address)
        self.connection.post(prepared)
        await trio.lowlevel.checkpoint()  # a connection that ended at this moment reports it
        room = self._lobby.rooms.get(prepared.room)
        if self.has_gone and room is not None and room.empty and room.referee is None:
            self._lobby.close_room(room, EMPTY_ROOM)
        return prepared.room

    def _greet(self, hello: c.Hello) -> None:
        answer = self._lobby.greet(self, hello)
        if isinstance(answer, Welcome):
            self.name, self.software = hello.name, hello.software
            self.token = token_digest(hello.token) if hello.token is not None else None
            self.connection.post(answer)
        else:
            self.connection.close(answer.code, answer.message)

    def _readiness(self, room: str) -> IsReady:
        side = self._side(room)
        return IsReady(side, self.rooms[room].seats[side].visit)

    def _side(self, room: str) -> Side:
        seat = self.rooms[room].seat_of(self.connection) if room in self.rooms else None
        if seat is None:
            raise Refusal("no_seat", f"you have no seat in room {room!r}")
        return seat.side

    def _tell(self, room: str, event: HasMoved | IsReady | Surrendered) -> None:
        if not self.rooms[room].put(event):
            too_fast = "the client sent messages faster than they could be read"
            self.connection.loss = Loss("protocol_violation", too_fast, final=True)
            self.connection.close("too_fast", "you send messages faster than a match can take them")

    def _leave(self, message: c.Leave) -> None:
        side = self._side(message.room)
        room = self.rooms.pop(message.room)
        if room.referee is not None:
            # Why is the organiser's to know: it stays among the frames of the evidence, which the opponent never sees.
            log.info("player_left", room=room.id, match=room.match, side=side.value, why=message.reason or None)
            room.seats[side].has_left = True
            room.put(Gone(side, "left", f"{side.value} left the match"))
            return
        self.connection.post(Left(id=message.id, room=room.id))
        self._lobby.seating.vacate(room, room.seats[side])
