"""A ship between two moves."""

from __future__ import annotations

from dataclasses import dataclass

from .geometry import Direction, Hex, field_of
from .river import STREAM, River

MIN_SPEED, MAX_SPEED = 1, 6
START_COAL = 6


@dataclass(frozen=True, slots=True)
class Ship:
    """Where a ship is and what it has; at its next move it gets as many movement points as its speed."""

    cell: int
    direction: Direction = Direction.RIGHT
    speed: int = MIN_SPEED
    coal: int = START_COAL
    passengers: int = 0
    free_turns: int = 1
    """Steps of 60 degrees that cost no coal in the next move: one, and one per push suffered since the last."""

    @property
    def position(self) -> Hex:
        """The field on which the ship is."""
        return field_of(self.cell)


def effective_speed(river: River, cell: int, speed: int) -> int:
    """The speed against the water: one less on the stream (seed, section 2.1)."""
    return speed - 1 if river.kinds[cell] & STREAM else speed


def segment_of(river: River, ship: Ship) -> int:
    """The index of the segment on which a ship is, 0 to 7."""
    return river.progress[ship.cell] // 5


def points(river: River, ship: Ship) -> int:
    """5 per segment passed, the column within it, 5 per passenger (seed, section 5)."""
    return river.progress[ship.cell] + 5 * ship.passengers
