"""Reservation codes: unguessable, for one seat, good once and for a while."""

from __future__ import annotations

from dataclasses import dataclass

from triarena.games import Side

from .refusal import Refusal
from .room import Room

REMEMBERED = 600.0
"""Seconds for which an expired code is still told apart from an unknown one."""


@dataclass(slots=True)
class _Reservation:
    room: Room
    side: Side
    expires: float
    used: bool = False


class Reservations:
    """All codes that are out. Times are trio's."""

    def __init__(self, lifetime: float) -> None:
        self._lifetime = lifetime
        self._codes: dict[str, _Reservation] = {}

    def add(self, code: str, room: Room, side: Side, now: float) -> None:
        """A code was given out."""
        self._codes[code] = _Reservation(room, side, now + self._lifetime)

    def redeem(self, code: str, now: float) -> tuple[Room, Side]:
        """The seat of a code. Who knows a code is its owner, and is told what became of it. Raises Refusal."""
        reservation = self._codes.get(code)
        if reservation is None:
            raise Refusal("unknown_reservation", "there is no such reservation; was it copied completely?")
        if reservation.used:
            raise Refusal("reservation_used", "this reservation was used already; a code opens its seat once")
        if now >= reservation.expires:
            raise Refusal("reservation_expired", "this reservation has expired; ask the organiser for a new one")
        return reservation.room, reservation.side

    def used(self, code: str) -> None:
        """Its seat was taken."""
        if code in self._codes:
            self._codes[code].used = True

    def reopen(self, code: str) -> None:
        """Its seat was given back before the match began."""
        if code in self._codes:
            self._codes[code].used = False

    def forget(self, code: str) -> None:
        """Its room is no more."""
        self._codes.pop(code, None)

    def sweep(self, now: float) -> None:
        """Forget the codes that expired long ago."""
        for code in [code for code, r in self._codes.items() if now >= r.expires + REMEMBERED and not r.used]:
            del self._codes[code]
