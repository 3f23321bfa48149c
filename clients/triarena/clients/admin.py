"""An administrator's requests: prepare rooms, and control what happens in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from triarena.protocol.from_client import (
    Authenticate,
    Cancel,
    Kick,
    ListRooms,
    Pause,
    Prepare,
    Resume,
    Slot,
    Step,
)
from triarena.protocol.from_server import Prepared, RoomInfo
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
        slots: Sequence[Slot] = (Slot(), Slot()),
        paused: bool = False,
    ) -> Prepared:
        """Make a room with two seats, red first. Without a seed or a time control the server takes its own."""
        return self.connection.request(
            Prepare(
                game=game,
                options=dict(options or {}),
                seed=seed,
                time_control=time_control,
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

    def rooms(self) -> list[RoomInfo]:
        """The rooms of the server."""
        return list_rooms(self.connection)
