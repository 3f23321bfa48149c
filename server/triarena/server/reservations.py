"""Reservations: unguessable codes, each for one seat, one client at a time, and a while. Of a code only its digest is
known.
"""

from __future__ import annotations

from dataclasses import dataclass

from triarena.games import Side

from .refusal import Refusal
from .room import Room

CONNECTED = (
    "this reservation is in use: its player is still connected; "
    "the code opens its seat again when that connection is lost"
)
LEFT = "this reservation was used, and its player has left the match; there is no way back into it"
REMEMBERED = 600.0
"""Seconds for which an expired code is still told apart from an unknown one."""


@dataclass(slots=True, eq=False)
class Reservation:
    """What a code is good for."""

    room: Room
    side: Side
    expires: float
    """In trio's time."""
    used: bool = False


class Reservations:
    """All codes that are out, by their digests."""

    def __init__(self) -> None:
        self._by_digest: dict[str, Reservation] = {}

    def add(self, digest: str, reservation: Reservation) -> None:
        """A code is good from now on."""
        self._by_digest[digest] = reservation

    def find(self, digest: str) -> Reservation | None:
        """What became of a code; None if there is none, or it expired long ago."""
        return self._by_digest.get(digest)

    def redeemable(self, digest: str, now: float) -> Reservation:
        """The reservation of a code that opens its seat now. Who knows a code is its owner, and is told what became
        of it. Raises Refusal.
        """
        reservation = self.find(digest)
        if reservation is None:
            raise Refusal("unknown_reservation", "there is no such reservation; was it copied completely?")
        if reservation.used:
            raise Refusal("reservation_used", self._what_became(reservation))
        if now >= reservation.expires:
            raise Refusal("reservation_expired", "this reservation has expired; ask the organiser for a new one")
        return reservation

    def _what_became(self, reservation: Reservation) -> str:
        """Of a seat that was taken, in a sentence."""
        result = reservation.room.result
        if result is None:
            return LEFT if reservation.room.seats[reservation.side].has_left else CONNECTED
        if result.kind == "aborted":
            verdict = "was broken off"
        elif result.winner is None:
            verdict = "has no winner"
        else:
            verdict = "was won" if result.winner == reservation.side.value else "was lost"
        return f"the match of this reservation is over, and {verdict}: {result.detail.message} [{result.reason}]"

    def forget(self, digest: str) -> None:
        """Its room is no more."""
        self._by_digest.pop(digest, None)

    def sweep(self, now: float) -> None:
        """Forget the codes that expired long ago."""
        for digest in [d for d, r in self._by_digest.items() if now >= r.expires + REMEMBERED and not r.used]:
            del self._by_digest[digest]
