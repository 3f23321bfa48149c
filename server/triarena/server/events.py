"""What can happen to a match from outside, and the mailbox in which the referee finds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import trio

from triarena.games import Side


@dataclass(frozen=True, slots=True)
class IsReady:
    """A side answered ``match_started``."""

    side: Side


@dataclass(frozen=True, slots=True)
class HasMoved:
    """A side answered ``your_turn``."""

    side: Side
    ply: int
    move: dict[str, Any]
    """The wire form."""
    at: float
    """When the last byte of its frame arrived, in trio's time."""


@dataclass(frozen=True, slots=True)
class Surrendered:
    """A side gave up."""

    side: Side


@dataclass(frozen=True, slots=True)
class Gone:
    """A side will not go on: it left, or was thrown out."""

    side: Side
    reason: Literal["left", "disconnected", "stalled", "protocol_violation"]
    message: str


@dataclass(frozen=True, slots=True)
class Lost:
    """A side's connection was lost; it may come back."""

    side: Side
    reason: Literal["disconnected", "stalled"]
    message: str


@dataclass(frozen=True, slots=True)
class Returned:
    """A side has a connection again, and has been told the match; it will say ``ready``."""

    side: Side


@dataclass(frozen=True, slots=True)
class Cancelled:
    """An administrator ended the match."""

    message: str


@dataclass(frozen=True, slots=True)
class Suspended:
    """The server stops; the match goes on when it runs again."""


@dataclass(frozen=True, slots=True)
class Nudge:
    """Look again: the gate was moved, or ``your_turn`` has been handed to the network."""


Event: TypeAlias = IsReady | HasMoved | Surrendered | Gone | Lost | Returned | Cancelled | Suspended | Nudge


class Mailbox:
    """Events for one referee, in order of arrival.

    What players send is bounded (``put`` refuses), what the server itself says is few and never refused.
    """

    def __init__(self, bound: int = 64) -> None:
        self._put, self._get = trio.open_memory_channel[Event](bound + 16)
        self._bound = bound

    def put(self, event: Event) -> bool:
        """Leave an event; False if a player's event finds the box full."""
        if isinstance(event, IsReady | HasMoved | Surrendered):
            if self._put.statistics().current_buffer_used >= self._bound:
                return False
        elif isinstance(event, Nudge) and self._put.statistics().current_buffer_used:
            return True  # whoever reads the other event looks again anyway
        try:
            self._put.send_nowait(event)
        except trio.WouldBlock:
            return False
        return True

    async def get(self) -> Event:
        """The next event."""
        return await self._get.receive()

    def get_nowait(self) -> Event | None:
        """The next event if there is one."""
        try:
            return self._get.receive_nowait()
        except trio.WouldBlock:
            return None


@dataclass(slots=True)
class Gate:
    """Whether a match may play its next ply."""

    paused: bool = False
    steps: int = 0
    """Plies granted while paused."""

    @property
    def open(self) -> bool:
        """Whether the next ply may be played."""
        return not self.paused or self.steps > 0

    def passed(self) -> None:
        """A ply begins."""
        if self.paused:
            self.steps -= 1
