"""An administrator's requests: prepare rooms, control what happens in them, and call a tournament's players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from triarena.protocol.from_client import (
    ENROLMENTS,
    Authenticate,
    Cancel,
    Dismiss,
    Enrol,
    Enrolment,
    Invite,
    Kick,
    ListPlayers,
    ListRooms,
    Pause,
    Prepare,
    Resume,
    Slot,
    Step,
)
from triarena.protocol.from_server import PlayerInfo, Prepared
from triarena.protocol.room_views import RoomInfo
from triarena.protocol.values import TimeControl

from .connection import Connection


def list_rooms(connection: Connection) -> list[RoomInfo]:
    """The rooms of the server, as everybody may see them. Raises ServerError."""
    return connection.request(ListRooms()).rooms


@dataclass(frozen=True, slots=True)
class Administrator:
    """A connection that was authenticated. Every method raises ServerError if the server refuses.

    ``room_event`` messages arrive at ``connection.receive()`` whenever something happens in a room.
    """

    connection: Connection

    @classmethod
    def authenticate(cls, connection: Connection, secret: str) -> Self:
        """Become an administrator. Raises ServerError for a wrong secret."""
        connection.request(Authenticate(secret=secret))
        return cls(connection)

    def prepare(
        self,
        game: str,
        options: Mapping[str, int | str] | None = None,
        *,
        seed: int | None = None,
        time_control: TimeControl | None = None,
        move_ms: float | None = None,
        budget_ms: float | None = None,
        increment_ms: float | None = None,
        slots: Sequence[Slot] = (Slot(), Slot()),
        paused: bool = False,
    ) -> Prepared:
        """Make a room with two seats, red first. Without a seed or a time control the server takes its own.

        ``move_ms``, or ``budget_ms`` with ``increment_ms``, change the server's own; ``time_control`` replaces it.
        """
        return self.connection.request(
            Prepare(
                game=game,
                options=dict(options or {}),
                seed=seed,
                time_control=time_control,
                move_ms=move_ms,
                budget_ms=budget_ms,
                increment_ms=increment_ms,
                slots=list(slots),
                paused=paused,
            )
        )

    def pause(self, room: str) -> str:
        """No further ply until ``resume`` or ``step``; the server's sentence about it, as from all that follow."""
        return self.connection.request(Pause(room=room)).message

    def resume(self, room: str) -> str:
        """Let a paused room go on."""
        return self.connection.request(Resume(room=room)).message

    def step(self, room: str) -> str:
        """Let a paused room play one ply."""
        return self.connection.request(Step(room=room)).message

    def cancel(self, room: str, reason: str = "") -> str:
        """End a room's match without a result, or close the room if none has started."""
        return self.connection.request(Cancel(room=room, reason=reason)).message

    def kick(self, connection: str) -> str:
        """Close a connection, by the number that it was welcomed with."""
        return self.connection.request(Kick(connection=connection)).message

    def enrol(self, players: Mapping[str, str]) -> str:
        """Make names belong to the holders of tokens; ``players`` has the digest of its token by each name.

        As many at a time as a request may name, so that of very many some may be enrolled when one is refused.
        """
        enrolments = [Enrolment(name=name, digest=digest) for name, digest in players.items()]
        for first in range(0, len(enrolments), ENROLMENTS):
            self.connection.request(Enrol(players=enrolments[first : first + ENROLMENTS]))
        return f"{len(enrolments)} players are enrolled"

    def invite(self, player: str, reservation: str, seed: int | None = None) -> str:
        """Send an enlisted player to the seat of a reservation, with a seed for its own randomness."""
        return self.connection.request(Invite(player=player, reservation=reservation, seed=seed)).message

    def players(self) -> list[PlayerInfo]:
        """Who is enlisted; ``player_event`` messages tell who comes and goes."""
        return self.connection.request(ListPlayers()).players

    def dismiss(self, player: str, message: str = "") -> str:
        """End a player's enrolment, and send it home with a sentence."""
        return self.connection.request(Dismiss(name=player, message=message)).message

    def rooms(self) -> list[RoomInfo]:
        """The rooms of the server."""
        return list_rooms(self.connection)
