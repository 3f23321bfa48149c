"""What the referee notes about a turn under way, and about a side that is away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from triarena.games import Side


@dataclass(slots=True)
class Turn:
    """A ``your_turn`` under way; moments are trio's."""

    side: Side
    asked: float
    """When it began."""
    sent: float | None = None
    """Since when the clock runs; None while it does not."""
    overhead: float | None = None
    """What the server took to ask; see Timing."""
    used: float = 0.0
    """What the answer is charged, in seconds."""


@dataclass(frozen=True, slots=True)
class Absence:
    """A side that can't be asked."""

    until: float
    """When it has been away for too long."""
    reason: Literal["disconnected", "stalled", "no_show", "not_resumed"]
    message: str
    excused: bool = False
    """It is away because the server was: its clock stands still, and nobody loses by it."""
