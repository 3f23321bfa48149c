"""What administrators may do: prepare rooms, pause, step, cancel, kick, and run a tournament."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import structlog
import trio

from triarena.games import Side
from triarena.protocol import from_client as c
from triarena.protocol.from_server import Authenticated, Done, PlayerList, Prepared
from triarena.protocol.values import TimeControl, Unlimited

from .events import Cancelled, Nudge
from .handler import Loss
from .names import digest
from .refusal import Refusal
from .reservations import Reservation
from .room import Room
from .seldom import Seldom
from .throttle import Gate

if TYPE_CHECKING:
    from .guest import Guest
    from .lobby import Lobby

log = structlog.get_logger()

Control: TypeAlias = c.Pause | c.Resume | c.Step | c.Cancel
Organising: TypeAlias = c.Enrol | c.Invite | c.Dismiss | c.ListPlayers


class Administration:
    """The administrators' door to a lobby."""

    def __init__(self, lobby: Lobby, is_secret: Callable[[str], bool]) -> None:
        self._lobby = lobby
        self._is_secret = is_secret
        self._gate = Gate()
        self._seldom = Seldom()

    def authenticate(self, guest: Guest, message: c.Authenticate) -> None:
        """Make a guest an administrator if it knows the secret."""
        address, now = guest.connection.address, trio.current_time()
        known = not self._lobby.house.guessable_secret and self._is_secret(message.secret)
        wait = 0.0 if known else self._gate.wait(address, now)
        if not known and wait == 0:  # people may have made these up
            known = self._is_secret(message.secret) or guest.is_secret(message.secret)
            wait = 0.0 if known else self._gate.wrong(address, now)
        if wait > 0:
            raise Refusal("throttled", f"too many wrong secrets came from {address}; try again in {wait:.0f} s")
        if not known:
            log.warning("wrong_secret", connection=guest.connection.number, address=address)
            raise Refusal("wrong_secret", "that is not the administrator secret of this server")
        self._gate.right(address)
        guest.admin = True
        guest.connection.post(Authenticated(id=message.id))

    async def prepare(self, guest: Guest, message: c.Prepare) -> Prepared:
        """Make a room with its seats and reservations; told, and seen by anybody, when it is stored."""
        self._require(guest)
        lobby = self._lobby
        limit = lobby.house.prepared_rooms
        if sum(room.prepared and room.result is None for room in lobby.rooms.values()) >= limit:
            raise Refusal("too_many_rooms", f"{limit} prepared rooms wait or play, and no more may; cancel some first")
        game, options = lobby.settled(message.game, message.options)
        first, second = message.slots
        if first.name is not None and first.name == second.name:
            raise Refusal("name_taken", f"both slots are called {first.name!r}; names are unique within a room")
        control = self._clock(message)
        controls: dict[Side, TimeControl] = {
            side: control if slot.timed else Unlimited() for side, slot in zip(Side, message.slots, strict=True)
        }
        seed = lobby.names.seed() if message.seed is None else message.seed
        room = lobby.new_room(game, options, seed, controls)
        room.prepared = True
        room.gate.paused = message.paused
        codes: list[str | None] = []
        expires = trio.current_time() + lobby.house.reservation
        for (side, seat), slot in zip(room.seats.items(), message.slots, strict=True):
            seat.fixed_name = slot.name
            code = lobby.names.token() if slot.reserved else None
            if code is not None:
                seat.reservation = digest(code)
                lobby.seating.reservations.add(seat.reservation, Reservation(room, side, expires))
            codes.append(code)
        try:
            await lobby.keeping.keep(room, paused=message.paused)
        except BaseException:
            lobby.seating.forget(room)
            raise
        lobby.add(room)
        return Prepared(
            id=message.id,
            room=room.id,
            reservations=codes,
            reservation_seconds=lobby.house.reservation,
            time_controls=list(controls.values()),
            socha_port=lobby.socha_ports.get(game.name),
        )

    def _clock(self, message: c.Prepare) -> TimeControl:
        """The clock that a request asks for; what it leaves open is as the server's own. Raises Refusal."""
        if sum(given is not None for given in (message.time_control, message.move_ms, message.budget_ms)) > 1:
            raise Refusal("bad_time_control", "give only one of 'time_control', 'move_ms' and 'budget_ms'")
        if message.increment_ms is not None and message.budget_ms is None:
            raise Refusal("bad_time_control", "'increment_ms' goes with 'budget_ms'; give both, or neither")
        house = self._lobby.house
        return message.time_control or house.clock_of(message.move_ms, message.budget_ms, message.increment_ms)

    async def control(self, guest: Guest, message: Control) -> str:
        """Carry out a request about a room; a sentence that says what was done. What must outlive the server is
        stored first.
        """
        self._require(guest)
        room = self._lobby.room(message.room)
        async with room.changing:
            self._in_play(room)
            match message:
                case c.Pause():
                    done = await self._pause(room, guest.connection.address)
                case c.Resume():
                    done = await self._resume(room)
                case c.Step():
                    done = self._step(room)
                case c.Cancel():
                    done = await self._cancel(room, message.reason)
        many = self._seldom(room.id) if isinstance(message, c.Step) else 1  # steps may be taken one a second
        about = {"request": message.type, "room": room.id, "match": room.match, "address": guest.connection.address}
        why = {"why": message.reason} if isinstance(message, c.Cancel) and message.reason else {}
        if many:
            log.info("administrator", **about, **why, done=done, **({"times": many} if many > 1 else {}))
        return done

    def _require(self, guest: Guest) -> None:
        if not guest.admin:
            raise Refusal("not_administrator", "only an administrator may do this: authenticate first")

    def _in_play(self, room: Room) -> None:
        """Raises Refusal if the match is over, or the room was closed."""
        if room.result is not None:
            raise Refusal("match_over", f"the match in room {room.id!r} is over")

    async def _pause(self, room: Room, address: str) -> str:
        if room.gate.paused:
            return f"room {room.id} was paused already"
        await self._lobby.keeping.keep(room, paused=True)
        self._in_play(room)
        room.gate.paused, room.gate.steps = True, 0
        room.note_pause(address)
        room.put(Nudge())
        self._lobby.happened(room, "paused")
        return f"room {room.id} is paused: a move under way will be taken, and no further ply is asked for"

    async def _resume(self, room: Room) -> str:
        if not room.gate.paused:
            return f"room {room.id} was not paused"
        await self._lobby.keeping.keep(room, paused=False)
        self._in_play(room)
        room.gate.paused, room.gate.steps = False, 0
        room.note_pause(None)
        room.put(Nudge())
        self._lobby.happened(room, "resumed")
        self._lobby.start_if_ready(room)
        return f"room {room.id} goes on"

    def _step(self, room: Room) -> str:
        if not room.gate.paused:
            raise Refusal("not_paused", f"room {room.id!r} is not paused; pause it first, then step")
        if not room.full:
            self._wants_its_players(room)
        room.gate.steps += 1
        room.put(Nudge())
        self._lobby.start_if_ready(room)
        return f"room {room.id} plays one ply"

    def _wants_its_players(self, room: Room) -> None:
        """Raises Refusal if no ply can be played since somebody is not there."""
        if room.referee is None:
            raise Refusal("not_started", f"room {room.id!r} waits for players; there is nothing to step")
        away = [seat.side for seat in room.seats.values() if not seat.connected]
        if room.referee.absences.gathering or room.referee.position.to_move in away:
            who = " and ".join(side.value for side in away)
            verb, pronoun = ("is", "it") if len(away) == 1 else ("are", "they")
            sentence = f"{who} {verb} away from the match in room {room.id!r}; step when {pronoun} {verb} back"
            raise Refusal("not_started", sentence)

    async def _cancel(self, room: Room, reason: str) -> str:
        sentence = "an administrator cancelled the match" + (f": {reason}" if reason else "")
        if room.referee is None:
            await self._lobby.keeping.forget(room)
            self._in_play(room)
        if room.referee is None:
            self._lobby.close_room(room)
            return f"room {room.id} is closed"
        if (ended := room.referee.pending) is not None:
            raise Refusal(
                "match_over",
                f"the match in room {room.id!r} has ended ({ended.reason}), and can't be cancelled any more; its "
                "result waits for the storage and is told when it is there",
            )
        room.put(Cancelled(sentence))
        return f"the match in room {room.id} is cancelled"

    def organise(self, guest: Guest, message: Organising) -> Done | PlayerList:
        """Carry out a request about the players of a tournament; its answer."""
        self._require(guest)
        enlisting = self._lobby.enlisting
        match message:
            case c.ListPlayers():
                return enlisting.players(message)
            case c.Enrol():
                sentence = enlisting.enrol(guest, message)
            case c.Invite():
                sentence = enlisting.invite(message)
            case c.Dismiss():
                sentence = enlisting.dismiss(message)
        return Done(id=message.id, message=sentence)

    def kick(self, guest: Guest, message: c.Kick) -> str:
        """Close a connection; a sentence that says so."""
        self._require(guest)
        number = message.connection
        kicked = self._lobby.guests.get(number)
        if kicked is None:
            raise Refusal(
                "unknown_connection",
                f"there is no connection {number!r}: it takes the number behind a player's name in the list of rooms",
            )
        kicked.connection.loss = Loss("disconnected", "an administrator closed its connection", final=True)
        kicked.connection.close("kicked", f"an administrator closed your connection{_lost_by_it(kicked)}")
        log.info("administrator", request="kick", kicked=number, address=guest.connection.address)
        return f"connection {number} is closed"


def _lost_by_it(guest: Guest) -> str:
    """What the end of its connection costs a guest."""
    rooms = [room for room in guest.rooms.values() if room.referee is not None and room.result is None]
    sides = [(room.id, seat.side.value) for room in rooms if (seat := room.seat_of(guest.connection)) is not None]
    return "".join(f"; {side} has lost the match in room {room} by it" for room, side in sides)
