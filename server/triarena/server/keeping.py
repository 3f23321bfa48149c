"""What the journal keeps of rooms, so that they are there again after a restart.

A prepared room is kept from its making until its match has ended or it is closed; any other only while it is paused.
Whoever changes what is kept holds the room's ``changing``, so that the journal has the changes in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import structlog
import trio
from pydantic import AwareDatetime, BaseModel, ConfigDict

from triarena.protocol.values import SideName, TimeControl

from .journal import Journal, JournalError, RoomForgotten, RoomKept
from .refusal import Refusal
from .reservations import Reservation, Reservations
from .room import Room
from .seat import Seat

log = structlog.get_logger()

ANSWER_SECONDS = 10.0
"""How long a request waits for the journal before it is refused."""
SHORTEST_PAUSE, LONGEST_PAUSE = 0.5, 10.0
"""Seconds between two attempts to set right what could not be stored; each pause is twice the one before."""


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class KeptReservation(_Kept):
    """A code that is out."""

    digest: str
    """Of the code, which itself is kept nowhere."""
    expires: AwareDatetime
    used: bool


class KeptSeat(_Kept):
    """One side of a room."""

    name: str | None = None
    """The seat's own, if it has one."""
    time_control: TimeControl
    reservation: KeptReservation | None = None


class KeptRoom(_Kept):
    """Everything that is needed to open a room again. The wire form is the state of ``RoomKept``."""

    game: str
    options: dict[str, int | str]
    seed: int
    seats: dict[SideName, KeptSeat]
    prepared: bool
    paused: bool


class Keeping:
    """Writes down what is kept. ``lives`` tells whether a room is open; ``start_soon`` runs what nobody waits for."""

    def __init__(
        self,
        journal: Journal,
        reservations: Reservations,
        lives: Callable[[Room], bool],
        now: Callable[[], datetime],
        start_soon: Callable[..., None],
    ) -> None:
        self._journal = journal
        self._reservations = reservations
        self._lives = lives
        self._now = now
        self._start_soon = start_soon
        self._stopped = trio.Event()
        self.names: set[str] = set()
        """The rooms that the journal may hold. No other room may be called so, or a restart would mix them up."""

    async def keep(self, room: Room, *, paused: bool) -> None:
        """Keep a room as it is, and as paused or not; a room that needs it no more is forgotten.

        Raises Refusal ``storage_lost``: then nothing is to be done of what was about to be.
        """
        if room.prepared or paused:
            self.names.add(room.id)
            await self._write(room, RoomKept(room.id, room.match_id, self._state(room, paused=paused)))
        else:
            await self.forget(room)

    async def forget(self, room: Room) -> None:
        """The room is no more, or will not be needed. Raises Refusal ``storage_lost``."""
        if room.id in self.names:
            await self._write(room, RoomForgotten(room.id))
            self.names.discard(room.id)

    async def let_go(self, room: Room) -> None:
        """Forget a room that has been closed, or whose match has ended; if not now, then later."""
        async with room.changing:
            with suppress(Refusal):  # ``_write`` sees to it
                await self.forget(room)

    def stop(self) -> None:
        """Set right nothing any more: the next start will."""
        self._stopped.set()

    def restore(self, room: Room, kept: KeptRoom, patience: float) -> None:
        """Give a room that was opened again what was kept of it. Codes that were used for a match that had not begun
        are good again, for ``patience`` seconds at least.
        """
        self.names.add(room.id)
        room.prepared, room.gate.paused = kept.prepared, kept.paused
        now, clock = self._now(), trio.current_time()
        begun = room.referee is not None
        for side, seat in room.seats.items():
            its = kept.seats[side.value]
            seat.fixed_name = its.name
            if its.reservation is not None:
                left = (its.reservation.expires - now).total_seconds()
                if its.reservation.used and not begun:
                    left = max(left, patience)
                seat.reservation = its.reservation.digest
                used = its.reservation.used and begun
                self._reservations.add(seat.reservation, Reservation(room, side, clock + left, used))

    def _state(self, room: Room, *, paused: bool) -> dict[str, Any]:
        kept = KeptRoom(
            game=room.terms.game.name,
            options=dict(room.terms.options),
            seed=room.terms.seed,
            seats={side.value: self._seat(seat) for side, seat in room.seats.items()},
            prepared=room.prepared,
            paused=paused,
        )
        return kept.model_dump(mode="json")

    def _seat(self, seat: Seat) -> KeptSeat:
        its = None if seat.reservation is None else self._reservations.find(seat.reservation)
        if seat.reservation is None:
            return KeptSeat(name=seat.fixed_name, time_control=seat.control)
        left = 0.0 if its is None else its.expires - trio.current_time()  # None: expired so long ago that it is gone
        expires = self._now() + timedelta(seconds=left)
        used = its is not None and its.used
        reservation = KeptReservation(digest=seat.reservation, expires=expires, used=used)
        return KeptSeat(name=seat.fixed_name, time_control=seat.control, reservation=reservation)

    async def _write(self, room: Room, record: RoomKept | RoomForgotten) -> None:
        try:
            with trio.fail_after(ANSWER_SECONDS):
                await self._journal.write(record)
        except (trio.TooSlowError, JournalError) as error:
            why = error.message if isinstance(error, JournalError) else "The database does not answer."
            log.error("room_not_stored", room=room.id, why=why)
            self._start_soon(self._set_right, room)
            sentence = f"this could not be stored, and so it was not done; try again later. {why}"
            raise Refusal("storage_lost", sentence) from None

    async def _set_right(self, room: Room) -> None:
        """Nobody knows what became of an attempt that failed: write how things are, as often as it takes."""
        pause = SHORTEST_PAUSE
        while True:
            with trio.move_on_after(pause):
                await self._stopped.wait()
                return
            async with room.changing:
                keep = self._lives(room) and room.result is None and (room.prepared or room.gate.paused)
                state = self._state(room, paused=room.gate.paused)
                record = RoomKept(room.id, room.match_id, state) if keep else RoomForgotten(room.id)
                try:
                    with trio.fail_after(ANSWER_SECONDS):
                        await self._journal.write(record)
                except (trio.TooSlowError, JournalError):
                    pause = min(2 * pause, LONGEST_PAUSE)
                    continue
                if not keep:
                    self.names.discard(room.id)
                return
