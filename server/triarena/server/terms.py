"""What the referee is given: the terms of a match, and the faces of players and audience."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from triarena.games import AnyGame, AnyPosition, Side
from triarena.games.core import Options
from triarena.protocol.from_server import Turned, YourTurn
from triarena.protocol.values import Result, TimeControl, Updates


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


class Player(Protocol):
    """What the referee sees of a side."""

    @property
    def updates(self) -> Updates:
        """Whether ``your_turn`` carries the position."""
        ...

    def ask(self, message: YourTurn, sent: Callable[[float], None]) -> None:
        """Post a turn; ``sent`` is called with the time when it has been handed to the network, if it ever is."""
        ...


class Audience(Protocol):
    """To whom the referee tells what has happened, and where it is written down before."""

    async def started(self, position: AnyPosition) -> None:
        """The match begins: write it down, tell the players."""
        ...

    async def moved(self, turned: Turned, position: AnyPosition) -> None:
        """A ply was accepted: write it down, then tell everybody."""
        ...

    async def over(self, result: Result, position: AnyPosition) -> None:
        """The match has ended: write it down, then tell everybody."""
        ...


class StorageLost(Exception):
    """The journal can't be written; raised by an Audience."""
