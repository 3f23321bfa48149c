"""The lobby: all rooms, who may sit where, and who is told what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import msgpack
import structlog
import trio

from triarena.games import AnyGame, BadOptions, IntOption, Side, UnknownGame, find_game, games, settle_options
from triarena.protocol import from_client as c
from triarena.protocol.codec import Encoded, encode, encode_with, pack_array
from triarena.protocol.frames import TO_CLIENT, TO_SERVER
from triarena.protocol.from_server import Observing, Refused, RoomEvent, RoomEventKind, Rooms, Welcome
from triarena.protocol.values import PROTOCOL, GameInfo, Limits, OptionRange, Result, TimeControl

from . import results
from .administration import Administration
from .bots import Identities
from .connection import Connection
from .enlisting import Enlisting
from .events import Suspended
from .guest import Guest
from .handler import LOST
from .house import House
from .journal import Journal
from .keeping import Keeping
from .lag import LoopLag
from .names import Names
from .refusal import Refusal
from .results import EMPTY_ROOM, SERVER_STOPPING
from .room import PACKED, Room
from .seat import Line, Seat
from .seating import Seating
from .seldom import Seldom
from .terms import Terms
from .trial import Trial

log = structlog.get_logger()
LIST_SECONDS = 0.1
LISTED_ROOMS = 1000
"""How many rooms a list tells; more might not fit into a frame."""


class Lobby:
    """One per server. Matches, and what has to be stored, run as tasks in the nursery it is given."""

    def __init__(
        self,
        house: House,
        journal: Journal,
        matches: trio.Nursery,
        names: Names,
        is_secret: Callable[[str], bool],
        now: Callable[[], datetime],
        lag: LoopLag,
    ) -> None:
        self.house = house
        self.names = names
        self.rooms: dict[str, Room] = {}
        self.guests: dict[str, Guest] = {}
        self.seating = Seating(self)
        self.keeping = Keeping(journal, self.seating.reservations, self._lives, now, self.start_soon)
        self.administration = Administration(self, is_secret)
        self.identities = Identities(house.bots)
        self.enlisting = Enlisting(self)
        self.draining = False
        self.kept = 0
        """How many matches were broken off, and go on at the next start."""
        self.lag = lag
        self._seldom = Seldom()
        self.find_game: Callable[[str], AnyGame] = find_game
        """Tests may put a game of a certain board in here."""
        self.listeners: list[Callable[[Room, RoomEventKind], None]] = []
        """Told of all that happens in rooms."""
        self.socha_ports: Mapping[str, int] = {}
        """Where clients of the Software-Challenge come in, if they may; by the game that they know."""
        self._list = b""
        self._list_good_until = 0.0
        self._journal = journal
        self._matches = matches
        self._now = now
        self._ended = trio.Event()
        self._suspended = False
        self.all_ends: Callable[[], bool] = lambda: False
        """Whether everything is being cancelled: if a connection is lost then, nobody but the server has ended it."""

    def start_soon(self, work: Callable[..., Awaitable[object]], *arguments: object) -> None:
        """Run something that is to be done whether or not who asked for it stays; nothing more once all is stopped."""
        if not (self._suspended or self.all_ends()):
            self._matches.start_soon(work, *arguments)

    # -- what rooms need -----------------------------------------------------------------------

    @property
    def journal(self) -> Journal:
        """Where matches are written down."""
        return self._journal

    @property
    def storage_lost(self) -> bool:
        """Whether the journal could not be written when something was written last."""
        return not self._journal.healthy or any(room.storage_lost for room in self.rooms.values())

    def now(self) -> datetime:
        """The time of day, in UTC."""
        return self._now()

    def happened(self, room: Room, event: RoomEventKind, result: Result | None = None) -> None:
        """Tell the administrators, and note when it was."""
        room.touched = trio.current_time()
        self._note(room, event, result)
        self._list_good_until = 0.0
        encoded = encode(RoomEvent(event=event, info=room.info(), result=result))
        for line in self.administrators():
            line.post_encoded(encoded)
        for listener in self.listeners:
            listener(room, event)

    def _note(self, room: Room, event: RoomEventKind, result: Result | None) -> None:
        """Tell the log: of what happens to a match, at the level of ordinary life."""
        about = {"room": room.id, "match": room.match, "game": room.terms.game.name}
        about |= {side.value: seat.name for side, seat in room.seats.items()}
        if event == "started":
            log.info("match_started", **about)
        elif event == "over" and result is not None and room.match is not None:
            log.info("match_over", **about, kind=result.kind, winner=result.winner, reason=result.reason)
        else:
            log.debug("room", room=room.id, event_kind=event)

    def administrators(self) -> list[Line]:
        """Who is told of everything."""
        return [guest.connection for guest in self.guests.values() if guest.admin]

    # -- coming and going ----------------------------------------------------------------------

    async def serve(self, connection: Connection, make_guest: Callable[[Connection, Lobby], Guest] = Guest) -> None:
        """A client's stay, from accept to farewell."""
        guest = make_guest(connection, self)
        with self._staying(guest):
            await connection.run(guest)

    async def serve_on_trial(self, connection: Connection, doubt: Refusal, proven: Callable[[], None]) -> None:
        """The stay of a client that is one too many, unless it proves to be an administrator; see ``Trial``."""
        guest = Guest(connection, self)
        with self._staying(guest):
            await Trial(connection, guest, doubt, proven).run(self.house.greeting)

    @contextmanager
    def _staying(self, guest: Guest) -> Iterator[None]:
        connection = guest.connection
        self.guests[connection.number] = guest
        try:
            yield
        finally:
            del self.guests[connection.number]
            log.debug("connection_closed", connection=connection.number, reason=connection.loss.reason)

    def greet(self, guest: Guest, hello: c.Hello) -> Welcome | Refused:
        """Who serves, and what is played; or why not."""
        answer = self._welcome(guest, hello)
        if isinstance(answer, Refused) and (many := self._seldom(answer.code)):
            address = guest.connection.address
            log.warning("refused", code=answer.code, address=address, name=hello.name, times=many)
        return answer

    def _welcome(self, guest: Guest, hello: c.Hello) -> Welcome | Refused:
        if hello.protocol != PROTOCOL:
            whose = "your client" if hello.protocol < PROTOCOL else "the server"
            sentence = f"this server speaks protocol {PROTOCOL}, your client asks for {hello.protocol}: update {whose}"
            return Refused(code="protocol_version", message=sentence)
        address = guest.connection.address
        try:
            guest.proven = self.identities.check(hello.name, hello.token, address, trio.current_time())
        except Refusal as refusal:
            return Refused(code=refusal.code, message=refusal.message)
        house = self.house
        return Welcome(
            protocol=PROTOCOL,
            software=house.software,
            connection=guest.connection.number,
            games=[game_info(game) for game in games().values()],
            limits=Limits(
                frame_to_server=TO_SERVER,
                frame_to_client=TO_CLIENT,
                bad_frames=house.bad_frames,
                rooms_per_connection=house.rooms_per_connection,
                observed_rooms_per_connection=house.observed_rooms_per_connection,
                greeting_seconds=house.greeting,
            ),
            heartbeat_seconds=house.heartbeat,
            storage_lost=self.storage_lost,
        )

    # -- rooms ---------------------------------------------------------------------------------

    def settled(self, name: str, options: Mapping[str, object]) -> tuple[AnyGame, dict[str, int | str]]:
        """A game and all its options with their effective values."""
        try:
            game = self.find_game(name)
            return game, settle_options(game.name, game.options, options)
        except UnknownGame as error:
            raise Refusal("unknown_game", str(error)) from None
        except BadOptions as error:
            raise Refusal("bad_option", str(error)) from None

    def room(self, name: str) -> Room:
        """The room of that name."""
        if name not in self.rooms:
            raise Refusal("unknown_room", f"there is no room {name!r}")
        return self.rooms[name]

    def open_room(
        self, game: AnyGame, options: dict[str, int | str], seed: int, clocks: Mapping[Side, TimeControl], opener: str
    ) -> Room:
        """A new room with open seats; ``opener`` is the address that it is counted for."""
        room = self.new_room(game, options, seed, clocks)
        room.opener = opener
        self.add(room)
        return room

    def new_room(
        self, game: AnyGame, options: dict[str, int | str], seed: int, clocks: Mapping[Side, TimeControl]
    ) -> Room:
        """A new room that nobody sees yet. Raises Refusal if there may be no more."""
        if self.draining:
            raise Refusal("server_stopping", "the server is about to stop and starts nothing new")
        if len(self.rooms) >= self.house.rooms:
            self.sweep(everything_over=True)
        if len(self.rooms) >= self.house.rooms:
            raise Refusal("too_many_rooms", f"the server has no more rooms than {self.house.rooms}; try later")
        return self.make_room(self.new_name(), game, options, seed, clocks)

    def new_name(self) -> str:
        """A name that no room has."""
        return self.names.room(self.rooms, self.keeping.names)

    def make_room(
        self, name: str, game: AnyGame, options: dict[str, int | str], seed: int, clocks: Mapping[Side, TimeControl]
    ) -> Room:
        """A room of that name that nobody sees yet."""
        house = self.house
        terms = Terms(game, options, seed, clocks, startup=house.startup, grace=house.grace)
        seats = {side: Seat(side, clocks[side]) for side in Side}
        return Room(name, terms, seats, self, self._effective(terms), match_id=self.names.match())

    def add(self, room: Room) -> None:
        """Let everybody see a room."""
        self.rooms[room.id] = room
        self.happened(room, "opened")

    def _lives(self, room: Room) -> bool:
        return self.rooms.get(room.id) is room

    def _effective(self, terms: Terms) -> dict[str, Any]:
        clocks = {side.value: control.model_dump() for side, control in terms.clocks.items()}
        return {"server": self.house.software, "clocks": clocks, "startup_seconds": terms.startup}

    def start_if_ready(self, room: Room) -> None:
        """Let the match begin when both seats are taken and nobody paused it."""
        if room.full and room.gate.open and room.referee is None and room.result is None:
            room.begin(room.match_id)
            self.play(room)

    def play(self, room: Room) -> None:
        """Let a match that has been begun (or resumed) go on to its end."""
        self.start_soon(self._run_match, room)

    async def _run_match(self, room: Room) -> None:
        assert room.referee is not None, "begin() was called"
        await room.referee.run()
        self._ended.set()
        if room.result is None:  # suspended: the server stops
            self.rooms.pop(room.id, None)
            self.kept += 1
        else:
            room.let_go()
            await self.keeping.let_go(room)

    def close_room(self, room: Room, code: str | None = None) -> None:
        """Forget a room; whoever waits in it is told. ``code`` says why if no administrator wanted it."""
        self._close(room, "the room was closed before a match began", code)
        self.start_soon(self.keeping.let_go, room)

    def _close(self, room: Room, why: str, code: str | None) -> None:
        if self.rooms.pop(room.id, None) is None:
            return
        self.seating.forget(room)
        if room.result is None:
            room.over(results.aborted("cancelled", None, why, code), None)
        self.happened(room, "closed")

    def sweep(self, *, everything_over: bool = False) -> None:
        """Close the rooms that nothing happens in any more."""
        now = trio.current_time()
        for room in list(self.rooms.values()):
            self._let_go_of_the_dead(room)
            idle = now - room.touched >= self.house.idle
            over = room.result is not None and (idle or everything_over)
            abandoned = room.referee is None and room.result is None and room.empty and idle
            if over or (abandoned and now - room.touched >= self.house.reservation):
                self.close_room(room, EMPTY_ROOM)
        self.seating.reservations.sweep(now)

    def _let_go_of_the_dead(self, room: Room) -> None:
        """A match waits for who sits in it; should its connection be over without the room having been told (which
        would be a fault of ours), it is told now, so that no match waits for ever.
        """
        for seat in room.seats.values():
            if seat.line is not None and seat.line.number not in self.guests and room.result is None:
                log.error("dead_connection", room=room.id, side=seat.side.value, connection=seat.line.number)
                if room.referee is not None:
                    room.lose(seat, LOST)
                else:
                    self.seating.vacate(room, seat)

    # -- observers -----------------------------------------------------------------------------

    def observe(self, guest: Guest, message: c.Observe) -> None:
        """Let a guest watch a room."""
        room = self.room(message.room)
        guest.must_know(room.terms.game)
        if room.seat_of(guest.connection) is not None:
            raise Refusal("already_in_room", f"you have a seat in room {room.id!r}: you are told all there is")
        room.gallery.remove(guest.connection)
        guest.watching = {r.id: r for r in guest.watching.values() if r is not room and r.result is None}
        if len(guest.watching) >= self.house.observed_rooms_per_connection:
            limit = self.house.observed_rooms_per_connection
            raise Refusal("too_many_rooms", f"a connection may watch no more rooms at once than {limit}; use another")
        if len(room.watches) >= self.house.observers_per_room:
            limit = self.house.observers_per_room
            raise Refusal("too_many_observers", f"room {room.id!r} has {limit} observers, and no more may watch")
        observing = Observing.model_construct(id=message.id, room=room.id, view=PACKED)
        guest.connection.post_encoded(encode_with(observing, {"view": room.view()}))
        if room.result is None:
            room.gallery.add(guest.connection, self.house.observer_queue)
            guest.watching[room.id] = room

    def list_rooms(self, message: c.ListRooms) -> Encoded[Rooms]:
        """The rooms, as everybody may see them, the newest first; as they were a moment ago if many ask."""
        now = trio.current_time()
        if now >= self._list_good_until:
            newest = list(reversed(self.rooms.values()))[:LISTED_ROOMS]
            self._list = pack_array([msgpack.packb(room.info().model_dump(exclude_none=True)) for room in newest])
            self._list_good_until = now + LIST_SECONDS
        omitted = max(0, len(self.rooms) - LISTED_ROOMS)
        return encode_with(Rooms(id=message.id, rooms=[], omitted=omitted), {"rooms": self._list})

    # -- stopping ------------------------------------------------------------------------------

    def drain(self) -> None:
        """Start nothing new: close the rooms in which no match has begun. The journal keeps the prepared ones.

        Who plays may come back, though nobody is judged any more for not doing so.
        """
        self.draining = True
        self.keeping.stop()
        for room in list(self.rooms.values()):
            if room.referee is not None:
                room.referee.stopping = True
            else:
                again = "; started again, it has this room and its reservations again" if room.prepared else ""
                self._close(room, f"the server stops before a match began{again}", SERVER_STOPPING)

    def running(self) -> int:
        """How many matches have not ended."""
        return sum(room.referee is not None and room.result is None for room in self.rooms.values())

    async def matches_ended(self) -> None:
        """Wait until no match is running."""
        while self.running():
            self._ended = trio.Event()
            await self._ended.wait()

    def suspend_matches(self, *, only_paused: bool = False) -> None:
        """Break off what is still running (or only what is paused); it goes on when the server is started again."""
        for room in self.rooms.values():
            # Also of one that is over: its end may not be stored yet.
            if room.referee is not None and (room.gate.paused or not only_paused):
                room.put(Suspended())
                room.broken_off = room.result is None
        self._suspended = self._suspended or not only_paused


def game_info(game: AnyGame) -> GameInfo:
    """A game as the greeting announces it."""
    options = [
        OptionRange(name=o.name, minimum=o.minimum, maximum=o.maximum, default=o.default, description=o.description)
        if isinstance(o, IntOption)
        else OptionRange(name=o.name, choices=list(o.choices), default=o.default, description=o.description)
        for o in game.options
    ]
    return GameInfo(name=game.name, title=game.title, rules_version=game.rules_version, options=options)
