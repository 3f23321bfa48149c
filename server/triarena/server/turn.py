"""What the referee notes about a turn under way."""

from __future__ import annotations

from dataclasses import dataclass

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
    arrived: float | None = None
    """When the answer came."""
    used: float = 0.0
    """What it is charged, in seconds."""
