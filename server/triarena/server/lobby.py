"""The lobby: all rooms, who may sit where, and who is told what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

import structlog
import trio
from pydantic import TypeAdapter

from triarena.games import AnyGame, BadOptions, IntOption, Side, UnknownGame, find_game, games, settle_options
from triarena.protocol import from_client as c
from triarena.protocol.codec import encode
from triarena.protocol.frames import TO_CLIENT, TO_SERVER
from triarena.protocol.from_server import Joined, Observing, Refused, RoomEvent, RoomEventKind, Rooms, Welcome
from triarena.protocol.values import PROTOCOL, GameInfo, Limits, OptionRange, Result, TimeControl, Updates

from . import results
from .administration import Administration, Throttle
from .connection import Connection
from .events import Suspended
from .guest import Guest
from .journal import Journal, StoredMatch
from .match import Terms
from .names import Names
from .refusal import Refusal
from .reservations import Reservations
from .room import Room, Watch
from .seat import Seat

log = structlog.get_logger()
LISTED_ROOMS = 1000
"""How many rooms a list tells; more might not fit into a frame."""


@dataclass(frozen=True, slots=True)
class House:
    """The rules of the house: what the settings say about rooms and matches."""

    software: str
    clock: TimeControl
    startup: float
    rooms: int
    rooms_per_connection: int
    observers_per_room: int
    observer_queue: int
    bad_frames: int
    greeting: float
    heartbeat: float
    idle: float
    """Seconds after which a room that nothing happens in is closed."""
    reservation: float
    """Seconds for which a reservation is good."""
    grace: float
    """Seconds for which the seat of a lost connection is kept in a match."""
    resume: float
    """Seconds for which players may come back after the server was started again."""


class Lobby:
    """One per server. All its methods are synchronous; matches run as tasks in the nursery it is given."""

    def __init__(
        self,
        house: House,
        journal: Journal,
        matches: trio.Nursery,
        names: Names,
        is_secret: Callable[[str], bool],
        now: Callable[[], datetime],
    ) -> None:
        self.house = house
        self.names = names
        self.rooms: dict[str, Room] = {}
        self.guests: dict[str, Guest] = {}
        self.reservations = Reservations(house.reservation)
        self._seats: dict[str, tuple[Room, Seat]] = {}
        """By the digest of the token with which a player comes back."""
        self._wrong_tokens = Throttle()
        self.administration = Administration(self, is_secret)
        self.draining = False
        self._journal = journal
        self._matches = matches
        self._now = now
        self._ended = trio.Event()

    # -- what rooms need -----------------------------------------------------------------------

    @property
    def journal(self) -> Journal:
        """Where matches are written down."""
        return self._journal

    def now(self) -> datetime:
        """The time of day, in UTC."""
        return self._now()

    def happened(self, room: Room, event: RoomEventKind, result: Result | None = None) -> None:
        """Tell the administrators, and note when it was."""
        room.touched = trio.current_time()
        log.debug("room", room=room.id, event_kind=event)
        if event == "over" and result is not None and room.match is not None:
            names = {side.value: seat.name for side, seat in room.seats.items()}
            log.info(
                "match_over",
                room=room.id,
                match=room.match,
                game=room.terms.game.name,
                **names,
                kind=result.kind,
                winner=result.winner,
                reason=result.reason,
            )
        encoded = encode(RoomEvent(event=event, info=room.info(), result=result))
        for guest in self.guests.values():
            if guest.admin:
                guest.connection.post_encoded(encoded)

    # -- coming and going ----------------------------------------------------------------------

    async def serve(self, connection: Connection) -> None:
        """A client's stay, from accept to farewell."""
        guest = Guest(connection, self)
        self.guests[connection.number] = guest
        try:
            await connection.run(guest)
        finally:
            del self.guests[connection.number]
            log.debug("connection_closed", connection=connection.number, reason=connection.loss.reason)

    def greet(self, guest: Guest, hello: c.Hello) -> Welcome | Refused:
        """Who serves, and what is played; or why not."""
        if hello.protocol != PROTOCOL:
            whose = "your client" if hello.protocol < PROTOCOL else "the server"
            sentence = f"this server speaks protocol {PROTOCOL}, your client asks for {hello.protocol}: update {whose}"
            return Refused(code="protocol_version", message=sentence)
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
                greeting_seconds=house.greeting,
            ),
            heartbeat_seconds=house.heartbeat,
        )

    # -- seats ---------------------------------------------------------------------------------

    def join(self, guest: Guest, message: c.Join) -> None:
        """The first open seat of that game with these options, else one in a new room."""
        self._may_sit(guest)
        game, options = self.settled(message.game, message.options)
        for room in self.rooms.values():
            seat = room.open_seat() if room.referee is None and room.result is None else None
            fits = room.terms.game is game and room.terms.options == options
            if seat is not None and fits and room.seat_of(guest.connection) is None:
                self._sit(guest, room, seat, message.updates, message.id)
                return
        room = self.open_room(game, options, self.names.seed(), dict.fromkeys(Side, self.house.clock))
        self._sit(guest, room, room.seats[Side.RED], message.updates, message.id)

    def join_room(self, guest: Guest, message: c.JoinRoom) -> None:
        """An open seat of a certain room."""
        self._may_sit(guest)
        room = self.room(message.room)
        if room.referee is not None or room.result is not None:
            raise Refusal("match_running", f"the match in room {room.id!r} has begun; you may observe it")
        seat = room.open_seat()
        if seat is None:
            reserved = any(s.line is None for s in room.seats.values())
            why = "is reserved: join with a reservation code" if reserved else "is taken"
            raise Refusal("seat_reserved" if reserved else "room_full", f"every open seat of room {room.id!r} {why}")
        self._sit(guest, room, seat, message.updates, message.id)

    def join_reserved(self, guest: Guest, message: c.JoinReserved) -> None:
        """The seat that a reservation code was made for."""
        self._may_sit(guest)
        room, side = self.reservations.redeem(message.reservation, trio.current_time())
        self._sit(guest, room, room.seats[side], message.updates, message.id)

    def _may_sit(self, guest: Guest) -> None:
        if self.draining:
            raise Refusal("server_stopping", "the server is about to stop and starts nothing new")
        guest.rooms = {room.id: room for room in guest.rooms.values() if room.result is None}
        if len(guest.rooms) >= self.house.rooms_per_connection:
            limit = self.house.rooms_per_connection
            raise Refusal("too_many_rooms", f"a connection may hold {limit} seats at once; finish or leave one first")

    def _sit(self, guest: Guest, room: Room, seat: Seat, updates: Updates, id: int | None) -> None:
        if room.seat_of(guest.connection) is not None:
            raise Refusal("already_in_room", f"you have a seat in room {room.id!r} already")
        if room.id in guest.watching:
            raise Refusal("already_in_room", f"you observe room {room.id!r}; take a seat over another connection")
        name = room.unique_name(guest.name or f"guest{guest.connection.number}", seat)
        token = self.names.token()
        seat.take(guest.connection, name, digest(token), updates, guest.software)
        self._seats[seat.key] = (room, seat)
        if seat.reservation is not None:
            self.reservations.used(seat.reservation)
        guest.rooms[room.id] = room
        guest.connection.post(_joined(room, seat, token, id))
        self.happened(room, "joined")
        self.start_if_ready(room)

    def rejoin(self, guest: Guest, message: c.Rejoin) -> None:
        """Take a seat back, from the same or another address; who sits there over an older connection is displaced."""
        address, now = guest.connection.address, trio.current_time()
        if (wait := self._wrong_tokens.wait(address, now)) > 0:
            raise Refusal("throttled", f"too many unknown tokens came from {address}; try again in {wait:.0f} s")
        if (found := self._seats.get(digest(message.token))) is None:
            self._wrong_tokens.failed(address, now)
            raise Refusal(
                "unknown_token", "no seat belongs to this token: the match is over, or had not begun; join again"
            )
        room, seat = found
        if seat.line is guest.connection:
            raise Refusal("already_in_room", f"you have your seat in room {room.id!r}")
        if room.id in guest.watching:
            raise Refusal("already_in_room", f"you observe room {room.id!r}; take the seat over another connection")
        self._displace(room, seat)
        seat.line, seat.updates, seat.software = guest.connection, message.updates, guest.software
        guest.rooms[room.id] = room
        guest.connection.post(_joined(room, seat, message.token, message.id))
        if room.result is not None:
            guest.connection.post(room.the_end())
        else:
            room.welcome_back(seat)
            self.happened(room, "joined")

    def _displace(self, room: Room, seat: Seat) -> None:
        for other in self.guests.values():
            if other.connection is seat.line:
                other.rooms.pop(room.id, None)
                other.connection.close("displaced", "your seat was taken over another connection with its token")

    def vacate(self, room: Room, seat: Seat) -> None:
        """A seat was given back before the match started."""
        self._seats.pop(seat.key, None)
        seat.vacate()
        if seat.reservation is not None:
            self.reservations.reopen(seat.reservation)
        self.happened(room, "left")
        if room.empty and not room.prepared:
            self.close_room(room)

    # -- rooms ---------------------------------------------------------------------------------

    def settled(self, name: str, options: Mapping[str, object]) -> tuple[AnyGame, dict[str, int | str]]:
        """A game and all its options with their effective values."""
        try:
            game = find_game(name)
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
        self, game: AnyGame, options: dict[str, int | str], seed: int, clocks: Mapping[Side, TimeControl]
    ) -> Room:
        """A new room with open seats."""
        if self.draining:
            raise Refusal("server_stopping", "the server is about to stop and starts nothing new")
        if len(self.rooms) >= self.house.rooms:
            self.sweep(everything_over=True)
        if len(self.rooms) >= self.house.rooms:
            raise Refusal("too_many_rooms", f"the server has {self.house.rooms} rooms, and no more; try later")
        return self._add_room(self.names.room(self.rooms), game, options, seed, clocks)

    def _add_room(
        self, name: str, game: AnyGame, options: dict[str, int | str], seed: int, clocks: Mapping[Side, TimeControl]
    ) -> Room:
        house = self.house
        terms = Terms(game, options, seed, clocks, startup=house.startup, grace=house.grace)
        seats = {side: Seat(side, clocks[side]) for side in Side}
        room = Room(name, terms, seats, self, self._effective(terms))
        self.rooms[room.id] = room
        self.happened(room, "opened")
        return room

    def resume(self, stored: StoredMatch) -> None:
        """Open the room of a match that broke off when the server did. Raises MoveError, UnknownGame or ValueError
        if it can't go on.
        """
        opened = stored.opened
        game = find_game(opened.game)
        if game.rules_version != opened.rules_version:
            raise ValueError(f"it was played by version {opened.rules_version} of the rules")
        controls = TypeAdapter(dict[str, TimeControl]).validate_python(opened.time_control)
        clocks = {side: controls[side.value] for side in Side}
        name = opened.room if opened.room not in self.rooms else self.names.room(self.rooms)
        room = self._add_room(name, game, dict(opened.options), opened.seed, clocks)
        names = {Side.RED: opened.red, Side.BLUE: opened.blue}
        for side, seat in room.seats.items():
            seat.name, seat.key = names[side], str(opened.settings["seats"][side.value]["key"])
            self._seats[seat.key] = (room, seat)
        try:
            room.resume(stored, self.house.resume)
        except Exception:
            del self.rooms[room.id]
            raise
        self._matches.start_soon(self._run_match, room)

    def _effective(self, terms: Terms) -> dict[str, Any]:
        clocks = {side.value: control.model_dump() for side, control in terms.clocks.items()}
        return {"server": self.house.software, "clocks": clocks, "startup_seconds": terms.startup}

    def start_if_ready(self, room: Room) -> None:
        """Let the match begin when both seats are taken and nobody paused it."""
        if room.full and room.gate.open and room.referee is None and room.result is None:
            room.begin(self.names.match())
            self._matches.start_soon(self._run_match, room)

    async def _run_match(self, room: Room) -> None:
        assert room.referee is not None, "begin() was called"
        await room.referee.run()
        self._ended.set()

    def close_room(self, room: Room) -> None:
        """Forget a room; whoever waits in it is told."""
        for seat in room.seats.values():
            self._seats.pop(seat.key, None)
            if seat.reservation is not None:
                self.reservations.forget(seat.reservation)
        if room.result is None:
            room.finish(results.aborted("cancelled", None, "the room was closed before a match began"), None)
        del self.rooms[room.id]
        self.happened(room, "closed")

    def sweep(self, *, everything_over: bool = False) -> None:
        """Close the rooms that nothing happens in any more."""
        now = trio.current_time()
        for room in list(self.rooms.values()):
            idle = now - room.touched >= self.house.idle
            over = room.result is not None and (idle or everything_over)
            abandoned = room.referee is None and room.result is None and room.empty and idle
            if over or (abandoned and now - room.touched >= self.house.reservation):
                self.close_room(room)
        self.reservations.sweep(now)

    # -- observers -----------------------------------------------------------------------------

    def observe(self, guest: Guest, message: c.Observe) -> None:
        """Let a guest watch a room."""
        room = self.room(message.room)
        if room.seat_of(guest.connection) is not None:
            raise Refusal("already_in_room", f"you have a seat in room {room.id!r}: you are told all there is")
        room.unwatch(guest.connection)
        if len(room.watches) >= self.house.observers_per_room:
            limit = self.house.observers_per_room
            raise Refusal("too_many_observers", f"room {room.id!r} has {limit} observers, and no more may watch")
        guest.connection.post(Observing(id=message.id, room=room.id, view=room.view()))
        if room.result is None:
            room.watches.append(Watch(guest.connection, self.house.observer_queue))
            guest.watching[room.id] = room

    def list_rooms(self, message: c.ListRooms) -> Rooms:
        """The rooms, as everybody may see them, the newest first."""
        newest = list(reversed(self.rooms.values()))
        return Rooms(
            id=message.id,
            rooms=[room.info() for room in newest[:LISTED_ROOMS]],
            omitted=max(0, len(newest) - LISTED_ROOMS),
        )

    # -- stopping ------------------------------------------------------------------------------

    def drain(self) -> None:
        """Start nothing new: close the rooms in which no match has begun."""
        self.draining = True
        for room in list(self.rooms.values()):
            if room.referee is None:
                self.close_room(room)

    def running(self) -> int:
        """How many matches have not ended."""
        return sum(room.referee is not None and room.result is None for room in self.rooms.values())

    async def matches_ended(self) -> None:
        """Wait until no match is running."""
        while self.running():
            self._ended = trio.Event()
            await self._ended.wait()

    def suspend_matches(self) -> None:
        """Break off what is still running; it goes on when the server is started again."""
        for room in self.rooms.values():
            if room.referee is not None and room.result is None:
                room.put(Suspended())


def digest(token: str) -> str:
    """What is kept of a token."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _joined(room: Room, seat: Seat, token: str, id: int | None) -> Joined:
    return Joined(
        id=id,
        room=room.id,
        side=seat.side.value,
        name=seat.name or "",
        game=room.terms.game.name,
        options=dict(room.terms.options),
        time_control=seat.control,
        token=token,
    )


def game_info(game: AnyGame) -> GameInfo:
    """A game as the greeting announces it."""
    options = [
        OptionRange(name=o.name, minimum=o.minimum, maximum=o.maximum, default=o.default, description=o.description)
        if isinstance(o, IntOption)
        else OptionRange(name=o.name, choices=list(o.choices), default=o.default, description=o.description)
        for o in game.options
    ]
    return GameInfo(name=game.name, title=game.title, rules_version=game.rules_version, options=options)
