"""Taking seats, giving them back, and taking them back after a lost connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
import trio

from triarena.games import Side
from triarena.protocol import from_client as c
from triarena.protocol.from_server import Joined
from triarena.protocol.values import Updates

from .addresses import neighbourhood
from .names import digest
from .refusal import Refusal
from .reservations import Reservations
from .results import EMPTY_ROOM
from .room import Room
from .seat import Seat
from .throttle import Throttle

if TYPE_CHECKING:
    from .guest import Guest
    from .lobby import Lobby

log = structlog.get_logger()


class Seating:
    """Who sits where in a lobby."""

    def __init__(self, lobby: Lobby) -> None:
        self.reservations = Reservations()
        self._lobby = lobby
        self._seats: dict[str, tuple[Room, Seat]] = {}
        """By the digest of the token with which a player comes back."""
        self._wrong_tokens = Throttle()

    def join(self, guest: Guest, message: c.Join) -> None:
        """The first open seat of that game with these options, else one in a new room."""
        self._may_sit(guest)
        self._may_choose(guest)
        game, options = self._lobby.settled(message.game, message.options)
        for room in self._lobby.rooms.values():
            seat = room.open_seat() if room.referee is None and room.result is None else None
            fits = room.terms.game is game and room.terms.options == options
            if seat is not None and fits and room.seat_of(guest.connection) is None and room.id not in guest.watching:
                self._sit(guest, room, seat, message.updates, message.id)
                return
        opener = neighbourhood(guest.connection.address)
        self._may_open(opener)
        room = self._lobby.open_room(
            game, options, self._lobby.names.seed(), dict.fromkeys(Side, self._lobby.house.clock), opener
        )
        self._sit(guest, room, room.seats[Side.RED], message.updates, message.id)

    def join_room(self, guest: Guest, message: c.JoinRoom) -> None:
        """An open seat of a certain room."""
        self._may_sit(guest)
        self._may_choose(guest)
        room = self._lobby.room(message.room)
        if room.referee is not None or room.result is not None:
            raise Refusal("match_running", f"the match in room {room.id!r} has begun; you may observe it")
        seat = room.open_seat()
        if seat is None:
            reserved = any(s.line is None for s in room.seats.values())
            why = "is reserved: join with a reservation code" if reserved else "is taken"
            raise Refusal("seat_reserved" if reserved else "room_full", f"every open seat of room {room.id!r} {why}")
        self._sit(guest, room, seat, message.updates, message.id)

    async def join_reserved(self, guest: Guest, message: c.JoinReserved) -> None:
        """The seat that a reservation code was made for; answered when it is stored that the code was used."""
        await self._stored(digest(message.reservation))
        self._may_take_a_seat(guest)
        held = self._seats.get(digest(message.reservation))
        lost = held is not None and held[1].line is None and held[0].match is not None
        if held is not None and (lost or guest.displaces(held[0])):
            # Used, but its connection is lost, perhaps before the answer arrived: the code does what the token does.
            self._take_back(guest, *held, message.reservation, message)
            return
        self._may_sit(guest)
        if self.reservations.find(digest(message.reservation)) is None:
            self._count_unknown(guest)
        reservation = self.reservations.redeemable(digest(message.reservation), trio.current_time())
        self._wrong_tokens.right(guest.connection.address)
        room = reservation.room
        seat = room.seats[reservation.side]
        self._may_sit_in(guest, room)
        reservation.used = True  # at once: while it is being stored, nobody else may come with the code
        try:
            async with room.changing:
                await self._lobby.keeping.keep(room, paused=room.gate.paused)
                self._may_sit(guest)
                if self._lobby.rooms.get(room.id) is not room:
                    raise Refusal("unknown_room", f"room {room.id!r} was closed at this moment")
                self._sit(guest, room, seat, message.updates, message.id, token=message.reservation)
        except BaseException:
            reservation.used = False
            raise

    async def _stored(self, code: str) -> None:
        """Wait while it is being stored that a code was used: till then nobody knows whether its seat will be taken."""
        while (reservation := self.reservations.find(code)) is not None and reservation.used:
            if code in self._seats or not reservation.room.changing.locked():
                return
            async with reservation.room.changing:
                pass

    def _may_sit(self, guest: Guest) -> None:
        """Whether a guest may begin a match."""
        self._may_take_a_seat(guest)
        if self._lobby.draining:
            raise Refusal("server_stopping", "the server is about to stop and starts nothing new")

    def _may_take_a_seat(self, guest: Guest) -> None:
        """Whether a guest may have a seat more, be it its own that it takes back."""
        if guest.has_gone:
            raise Refusal("no_seat", "the connection is over")
        guest.rooms = {room.id: room for room in guest.rooms.values() if room.result is None}
        if len(guest.rooms) >= self._lobby.house.rooms_per_connection:
            limit = self._lobby.house.rooms_per_connection
            raise Refusal(
                "too_many_rooms", f"a connection may hold no more seats at once than {limit}; leave one first"
            )

    def _may_open(self, opener: str) -> None:
        """Whether an address may have a room more: none is to take them from all others."""
        limit = self._lobby.house.rooms_per_address
        if sum(room.opener == opener and room.result is None for room in self._lobby.rooms.values()) >= limit:
            sentence = f"of the rooms opened from {opener}, no more than {limit} may wait or play"
            raise Refusal("too_many_rooms", f"{sentence}; join one of them, or try later")

    def _may_choose(self, guest: Guest) -> None:
        if self._lobby.identities.required and not guest.proven:
            sentence = "here only bots that the organiser gave a token may take a seat that is not reserved for them"
            advice = "give its name and token (--name and --token, in hello 'name' and 'token')"
            if guest.token is not None and guest.name is not None:
                advice = f"{guest.name!r} is none of them; check the name"
            raise Refusal("token_required", f"{sentence}: {advice}")

    def _may_sit_in(self, guest: Guest, room: Room) -> None:
        if room.seat_of(guest.connection) is not None:
            raise Refusal("already_in_room", f"you have a seat in room {room.id!r} already")
        if room.id in guest.watching:
            raise Refusal("already_in_room", f"you observe room {room.id!r}; take a seat over another connection")
        guest.may_play(room.terms)

    def _sit(
        self, guest: Guest, room: Room, seat: Seat, updates: Updates, id: int | None, token: str | None = None
    ) -> None:
        """Let a guest sit down. It comes back with ``token``: its reservation code, or else a new one."""
        self._may_sit_in(guest, room)
        name = room.unique_name(guest.called(seat.side), seat)
        token = token or self._lobby.names.token()
        seat.take(guest.connection, name, digest(token), updates, guest.software)
        self._seats[seat.key] = (room, seat)
        guest.rooms[room.id] = room
        guest.connection.post(_joined(room, seat, token, id))
        self._lobby.happened(room, "joined")
        self._lobby.start_if_ready(room)

    def rejoin(self, guest: Guest, message: c.Rejoin) -> None:
        """Take a seat back, from the same or another address; who sits there over an older connection is displaced."""
        if (found := self._seats.get(digest(message.token))) is None:
            self._count_unknown(guest)
            raise Refusal(
                "unknown_token", "no seat belongs to this token: the match is over, or had not begun; join again"
            )
        self._wrong_tokens.right(guest.connection.address)
        self._take_back(guest, *found, message.token, message)

    def _count_unknown(self, guest: Guest) -> None:
        """A guest gave a token or a code that is unknown. Raises Refusal if too many came from its address."""
        address = guest.connection.address
        if (wait := self._wrong_tokens.wrong(address, trio.current_time())) > 0:
            sentence = f"too many unknown tokens and codes came from {address}, and this is another"
            raise Refusal("throttled", f"{sentence}; try again in {wait:.0f} s")

    def _take_back(self, guest: Guest, room: Room, seat: Seat, token: str, message: c.Rejoin | c.JoinReserved) -> None:
        if (held := room.seat_of(guest.connection)) is not None:
            sentence = f"you have your seat in room {room.id!r}"
            if held is not seat:
                sentence = f"you have the other seat of room {room.id!r}; take this one over another connection"
            raise Refusal("already_in_room", sentence)
        if not guest.connection.is_outside(room.id):
            sentence = f"this connection has followed room {room.id!r} already; take the seat over another one"
            raise Refusal("already_in_room", sentence)
        guest.may_play(room.terms)
        self._displace(room, seat, guest)
        seat.take_back(guest.connection, message.updates, guest.software)
        guest.rooms[room.id] = room
        guest.connection.post(_joined(room, seat, token, message.id))
        if room.result is not None:
            guest.came_to_the_end(room)
            room.tell_the_end(seat)
        else:
            room.welcome_back(seat)
            self._lobby.happened(room, "joined")

    def _displace(self, room: Room, seat: Seat, by: Guest) -> None:
        """Close the connection over which somebody sits there, if there is one: ``by`` has come with the same token."""
        token = "token" if seat.reservation is None else "reservation code"
        for other in self._lobby.guests.values():
            if other.connection is seat.line:
                other.rooms.pop(room.id, None)
                if room.scribe is not None:
                    room.scribe.witness.went(seat.side, f"its seat was taken over another connection with its {token}")
                whose = {"room": room.id, "match": room.match, "side": seat.side.value, "name": seat.name}
                new = {"by": by.connection.number, "address": by.connection.address}
                log.info("player_displaced", **whose, connection=seat.line.number, **new)
                other.connection.close("displaced", f"your seat was taken over another connection with its {token}")

    def vacate(self, room: Room, seat: Seat) -> None:
        """A seat was given back before the match started."""
        self._seats.pop(seat.key, None)
        seat.vacate()
        if seat.reservation is not None and (reservation := self.reservations.find(seat.reservation)) is not None:
            reservation.used = False  # not stored: after a restart the code is good again anyway
        self._lobby.happened(room, "left")
        if room.empty and not room.prepared:
            self._lobby.close_room(room, EMPTY_ROOM)

    def keep(self, room: Room, seat: Seat) -> None:
        """Let the seat's holder come back with its token."""
        self._seats[seat.key] = (room, seat)

    def forget(self, room: Room) -> None:
        """The room is no more: its tokens and codes are worth nothing."""
        for seat in room.seats.values():
            self._seats.pop(seat.key, None)
            if seat.reservation is not None:
                self.reservations.forget(seat.reservation)


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
