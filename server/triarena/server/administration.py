"""What administrators may do: prepare rooms, pause, step, cancel, kick."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import structlog
import trio

from triarena.games import Side
from triarena.protocol import from_client as c
from triarena.protocol.from_server import Authenticated, Prepared
from triarena.protocol.values import TimeControl, Unlimited

from .connection import Loss
from .events import Cancelled, Nudge
from .refusal import Refusal
from .room import Room
from .throttle import Throttle

if TYPE_CHECKING:
    from .guest import Guest
    from .lobby import Lobby

log = structlog.get_logger()

Control: TypeAlias = c.Pause | c.Resume | c.Step | c.Cancel | c.Kick


class Administration:
    """The administrators' door to a lobby."""

    def __init__(self, lobby: Lobby, is_secret: Callable[[str], bool]) -> None:
        self._lobby = lobby
        self._is_secret = is_secret
        self._throttle = Throttle(in_all=True)

    def authenticate(self, guest: Guest, message: c.Authenticate) -> None:
        """Make a guest an administrator if it knows the secret."""
        address, now = guest.connection.address, trio.current_time()
        wait = self._throttle.wait(address, now)
        if wait > 0:
            raise Refusal("throttled", f"too many wrong secrets came from {address}; try again in {wait:.0f} s")
        if not self._is_secret(message.secret):
            self._throttle.failed(address, now)
            log.warning("wrong_secret", connection=guest.connection.number, address=address)
            raise Refusal("wrong_secret", "that is not the administrator secret of this server")
        self._throttle.succeeded(address)
        guest.admin = True
        guest.connection.post(Authenticated(id=message.id))

    def prepare(self, guest: Guest, message: c.Prepare) -> Prepared:
        """Make a room with its seats and reservations."""
        self._require(guest)
        lobby = self._lobby
        limit = lobby.house.prepared_rooms
        if sum(room.prepared and room.result is None for room in lobby.rooms.values()) >= limit:
            raise Refusal("too_many_rooms", f"{limit} prepared rooms wait or play, and no more may; cancel some first")
        game, options = lobby.settled(message.game, message.options)
        first, second = message.slots
        if first.name is not None and first.name == second.name:
            raise Refusal("name_taken", f"both slots are called {first.name!r}; names are unique within a room")
        control = message.time_control or lobby.house.clock
        controls: dict[Side, TimeControl] = {
            side: control if slot.timed else Unlimited() for side, slot in zip(Side, message.slots, strict=True)
        }
        seed = lobby.names.seed() if message.seed is None else message.seed
        room = lobby.open_room(game, options, seed, controls)
        room.prepared = True
        room.gate.paused = message.paused
        codes: list[str | None] = []
        for (side, seat), slot in zip(room.seats.items(), message.slots, strict=True):
            seat.fixed_name = slot.name
            seat.reservation = lobby.names.token() if slot.reserved else None
            if seat.reservation is not None:
                lobby.seating.reservations.add(seat.reservation, room, side, trio.current_time())
            codes.append(seat.reservation)
        return Prepared(id=message.id, room=room.id, reservations=codes)

    def control(self, guest: Guest, message: Control) -> str:
        """Carry out a request about a room or a connection; a sentence that says what was done."""
        self._require(guest)
        if isinstance(message, c.Kick):
            return self._kick(message.connection)
        room = self._lobby.room(message.room)
        if room.result is not None:
            raise Refusal("match_over", f"the match in room {room.id!r} is over")
        match message:
            case c.Pause():
                return self._pause(room)
            case c.Resume():
                return self._resume(room)
            case c.Step():
                return self._step(room)
            case c.Cancel():
                return self._cancel(room, message.reason)

    def _require(self, guest: Guest) -> None:
        if not guest.admin:
            raise Refusal("not_administrator", "only an administrator may do this: authenticate first")

    def _pause(self, room: Room) -> str:
        if room.gate.paused:
            return f"room {room.id} was paused already"
        room.gate.paused, room.gate.steps = True, 0
        room.put(Nudge())
        self._lobby.happened(room, "paused")
        return f"room {room.id} is paused: a move under way will be taken, and no further ply is asked for"

    def _resume(self, room: Room) -> str:
        if not room.gate.paused:
            return f"room {room.id} was not paused"
        room.gate.paused, room.gate.steps = False, 0
        room.put(Nudge())
        self._lobby.happened(room, "resumed")
        self._lobby.start_if_ready(room)
        return f"room {room.id} goes on"

    def _step(self, room: Room) -> str:
        if not room.gate.paused:
            raise Refusal("not_paused", f"room {room.id!r} is not paused; pause it first, then step")
        if not room.full:
            raise Refusal("not_started", f"room {room.id!r} waits for players; there is nothing to step")
        room.gate.steps += 1
        room.put(Nudge())
        self._lobby.start_if_ready(room)
        return f"room {room.id} plays one ply"

    def _cancel(self, room: Room, reason: str) -> str:
        sentence = "an administrator cancelled the match" + (f": {reason}" if reason else "")
        if room.referee is None:
            self._lobby.close_room(room)
            return f"room {room.id} is closed"
        room.put(Cancelled(sentence))
        return f"the match in room {room.id} is cancelled"

    def _kick(self, number: str) -> str:
        guest = self._lobby.guests.get(number)
        if guest is None:
            raise Refusal("unknown_connection", f"there is no connection {number!r}")
        guest.connection.loss = Loss("disconnected", "an administrator closed its connection", final=True)
        guest.connection.close("kicked", "an administrator closed your connection")
        return f"connection {number} is closed"
