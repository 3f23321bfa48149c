"""What the referee is given: the terms of a match, and the faces of players, book and audience."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from triarena.games import AnyGame, AnyPosition, Side
from triarena.games.core import Options, Plain
from triarena.protocol.from_server import YourTurn
from triarena.protocol.values import Result, SideName, TimeControl, Updates

from .wording import present


@dataclass(frozen=True, slots=True)
class Terms:
    """What a match is played by; announced at its start and stored with it."""

    game: AnyGame
    options: Options
    seed: int
    clocks: Mapping[Side, TimeControl]
    startup: float
    """Seconds that a side has to answer ``match_started``."""
    grace: float
    """Seconds for which the seat of a lost connection is kept; 0 makes a loss final."""


@dataclass(frozen=True, slots=True)
class Played:
    """A ply that was accepted, in plain values, as they go over the wire and into the journal."""

    ply: int
    side: SideName
    move: Any
    """In the game's canonical wire form; see ``wording``."""
    text: str
    """The move in the game's notation."""
    used_ms: float
    """What the ply was charged."""

    def told(self) -> dict[str, Any]:
        """The fields of a message that tells it."""
        move = present(self.move)
        return {"ply": self.ply, "side": self.side, "move": move, "text": self.text, "used_ms": self.used_ms}


class Player(Protocol):
    """What the referee sees of a side."""

    @property
    def updates(self) -> Updates:
        """Whether ``your_turn`` carries the position."""
        ...

    def ask(self, message: YourTurn, position: Plain, sent: Callable[[float], None]) -> None:
        """Post a turn, with a position in wire form unless that is None; ``sent`` is called with the time when it has
        been handed to the network, if it ever is.
        """
        ...

    async def heard_out(self) -> None:
        """Return when all that has come from the side has been read, or that takes too long."""
        ...


@dataclass(frozen=True, slots=True)
class Timing:
    """What the referee knows about the time of a ply; moments are trio's."""

    asked: float
    """When the side was first asked."""
    arrived: float
    """When its move came."""
    limit_ms: float | None
    """What the move could have taken; None without a clock."""
    overhead: float | None
    """Seconds that the server took from the previous move to asking; None if it did nothing but wait."""


@dataclass(frozen=True, slots=True)
class LastTurn:
    """A turn in which a match ended; moments are trio's."""

    side: Side
    ply: int
    asked: float
    """When the side was asked; its clock ran from then on, if it ran at all."""
    arrived: float | None
    """When its answer came; None if it had not."""
    used: float
    """Seconds that its clock showed at the end."""
    limit_ms: float | None
    """See Timing, as for ``overhead``."""
    overhead: float | None


class Book(Protocol):
    """Where all is written down before anybody is told. Each method returns when it is stored."""

    @property
    def lost(self) -> bool:
        """Whether the latest attempt to write was in vain."""
        ...

    async def opened(self) -> None:
        """The match begins. Raises StorageLost."""
        ...

    async def played(self, played: Played, timing: Timing) -> None:
        """A ply was accepted. Raises StorageLost."""
        ...

    async def ended(self, result: Result, *, announced: bool, turn: LastTurn | None) -> None:
        """The match has ended, perhaps in a turn; ``announced`` if everybody knows already. Raises StorageLost."""
        ...

    async def insist(self) -> None:
        """After StorageLost: try again until it is stored."""
        ...

    def leave(self) -> None:
        """After StorageLost, and now the server stops: have it tried once more while the rest of what is to be stored
        is waited for.
        """
        ...


class Audience(Protocol):
    """To whom the referee tells what has happened, after it was stored."""

    def started(self, position: AnyPosition) -> None:
        """The match begins."""
        ...

    def moved(self, played: Played, position: AnyPosition) -> None:
        """A ply was accepted; ``position`` is the new one."""
        ...

    def over(self, result: Result, position: AnyPosition) -> None:
        """The match has ended."""
        ...


class StorageLost(Exception):
    """The book can't be written at the moment, and perhaps not for a long time."""
