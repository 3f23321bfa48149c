"""What has been said over one connection, as far as it matters for what comes next."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from triarena.protocol.game_values import Actions
from triarena.protocol.values import SideName

Names = Mapping[SideName, str | None]
"""Of both players; None for who has none of its own."""
NAMELESS: Names = {"red": None, "blue": None}
AWAITED = 64
"""Of so many rooms that have ended is known that a move may yet come."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that has not been answered."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def told(self) -> dict[str, str]:
        """What is told of it in an answer: only that by which the client knows it again, and no secret."""
        return {name: self.attributes[name][:80] for name in ("roomId", "gameType") if name in self.attributes}


@dataclass(slots=True)
class Place:
    """The connection in one room."""

    side: SideName | None = None
    """Its side; None if it watches."""
    names: Names = field(default_factory=lambda: NAMELESS)
    welcomed: bool = False
    ply: int | None = None
    """The one for which it owes a move."""
    answer: Actions | None = None
    """Its latest move, as the original sends it back if it was wrong."""
    begun: bool = False
    """Whether its match has begun."""
    reproach: str = ""
    """What it did that it may not do at that time; told when it loses by it, after what came before."""


@dataclass(slots=True)
class Conversation:
    """Of one connection."""

    asked: deque[Asked] = field(default_factory=deque)
    """In the order of the answers."""
    places: dict[str, Place] = field(default_factory=dict)
    """By room, until that is over."""
    admin: bool = False
    awaited: deque[str] = field(default_factory=lambda: deque(maxlen=AWAITED))
    """Rooms that ended while a move was asked for there: the answer may have crossed their end."""
