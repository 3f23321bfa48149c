"""What can happen to a match from outside, and the mailbox in which the referee finds it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import trio

from triarena.games import Side


@dataclass(frozen=True, slots=True)
class IsReady:
    """A side answered ``match_started``."""

    side: Side
    visit: int = 0
    """Over which of its connections; see ``Seat``."""


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
    visit: int = 0
    """Over which of its connections; see ``Seat``."""


@dataclass(frozen=True, slots=True)
class Returned:
    """A side has a connection again, and has been told the match; it will say ``ready``."""

    side: Side
    visit: int = 0
    """Over which of its connections; see ``Seat``."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """An administrator ended the match."""

    message: str


@dataclass(frozen=True, slots=True)
class Suspended:
    """The server stops; the match goes on when it runs again."""


@dataclass(frozen=True, slots=True)
class Nudge:
    """Look again: the gate was moved."""


Event: TypeAlias = IsReady | HasMoved | Surrendered | Gone | Lost | Returned | Cancelled | Suspended | Nudge


class Mailbox:
    """Events for one referee, in order of arrival.

    What the server itself says is never refused, however long the referee does not look (a lost database). Nor can it
    fill the memory: of how a side came and went it is enough to know the first and the last, and what was said once
    need not be said again. Moves, which players send, are bounded.
    """

    def __init__(self, moves: int = 64) -> None:
        """``moves`` of each side may wait."""
        self._events: deque[Event] = deque()
        self._arrived = trio.lowlevel.ParkingLot()
        self._moves = moves

    def put(self, event: Event) -> bool:
        """Leave an event; False if too many moves of that side wait."""
        match event:
            case HasMoved(side):
                if sum(isinstance(other, HasMoved) and other.side is side for other in self._events) >= self._moves:
                    return False
            case Lost(side) | Returned(side):
                self._supersede(side)
            case Nudge():
                if self._events:
                    return True  # whoever reads the other event looks again anyway
            case IsReady() | Surrendered() | Suspended():
                if event in self._events:
                    return True
            case Gone() | Cancelled():
                if any(type(other) is type(event) and _side(other) is _side(event) for other in self._events):
                    return True  # the first counts
        self._events.append(event)
        self._arrived.unpark()
        return True

    def _supersede(self, side: Side) -> None:
        """A side comes or goes: forget that it came or went before, but for the first time, and that it was ready."""
        kept: deque[Event] = deque()
        known = False
        for event in self._events:
            moves = isinstance(event, Lost | Returned) and event.side is side
            if not ((moves and known) or (isinstance(event, IsReady) and event.side is side)):
                kept.append(event)
            known = known or moves
        self._events = kept

    def __bool__(self) -> bool:
        """Whether something has happened that nobody has looked at."""
        return bool(self._events)

    async def get(self) -> Event:
        """The next event."""
        if self._events:
            await trio.lowlevel.checkpoint()
        while not self._events:
            await self._arrived.park()
        return self._events.popleft()

    def get_nowait(self) -> Event | None:
        """The next event if there is one."""
        return self._events.popleft() if self._events else None


def _side(event: Event) -> Side | None:
    return getattr(event, "side", None)


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
