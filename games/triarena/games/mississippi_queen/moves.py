"""Moves: a tuple of actions. Values only; what is allowed is told elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .geometry import DIRECTIONS, Direction

MAX_ACTIONS = 64
"""A longer move is malformed; no legal one needs a quarter of that."""

MAX_NUMBER = 99
"""A speed change or a distance beyond that, either way, is malformed."""


@dataclass(frozen=True, slots=True)
class Accelerate:
    """Change the speed by that many units, down if negative; the first action only."""

    by: int


@dataclass(frozen=True, slots=True)
class Turn:
    """Turn the ship to a direction."""

    to: Direction


@dataclass(frozen=True, slots=True)
class Advance:
    """Go straight ahead that many fields; -1 (backwards) is possible from a sandbank only."""

    distance: int


@dataclass(frozen=True, slots=True)
class Push:
    """Push the other ship, on whose field the mover stands, one field in a direction."""

    to: Direction


Action: TypeAlias = Accelerate | Turn | Advance | Push
Actions: TypeAlias = tuple[Action, ...]
"""A move."""

# The actions that lists of moves are made of: one object each, shared by all moves.
ACCELERATES = {by: Accelerate(by) for by in range(-5, 6)}
TURNS = tuple(Turn(to) for to in DIRECTIONS)
ADVANCES = tuple(Advance(distance) for distance in range(7))
PUSHES = tuple(Push(to) for to in DIRECTIONS)
BACKWARDS = Advance(-1)
