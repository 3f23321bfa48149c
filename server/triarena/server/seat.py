"""A seat of a room: one side, who may take it, and who has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from triarena.games import Side
from triarena.games.core import Plain
from triarena.protocol.codec import Encoded, encode_plain
from triarena.protocol.from_server import FromServer, YourTurn
from triarena.protocol.values import TimeControl, Updates

from .transcript import Transcript


class Line(Protocol):
    """A way to a client; what is posted to a closed one goes nowhere."""

    number: str
    """The connection's."""
    address: str
    """Where it comes from."""
    terse: bool
    """Whether it counts as ready at once, and is told each position; see ``Tongue``."""

    @property
    def singly(self) -> bool:
        """Whether it must be given every message by itself, not several together."""
        ...

    @property
    def backlog(self) -> int:
        """How many messages wait to be written."""
        ...

    def transcribe(self) -> Transcript:
        """From now on the last frames are kept; where they are."""
        ...

    async def heard_out(self) -> None:
        """Return when all that has come has been read, or that takes too long."""
        ...

    def post(self, message: FromServer, sent: Callable[[float], None] | None = None) -> None:
        """Queue a message; ``sent`` is told when it was handed to the network."""
        ...

    def post_encoded(self, encoded: Encoded[Any], sent: Callable[[float], None] | None = None) -> None:
        """Queue a message that was packed once for many."""
        ...


@dataclass(slots=True, eq=False)
class Seat:
    """One side of a room. Before the match it is open while ``line`` is None; in the match its player is away then."""

    side: Side
    control: TimeControl
    fixed_name: str | None = None
    """The name under which this seat plays whoever takes it."""
    reservation: str | None = None
    """The digest of the code that alone opens this seat."""
    line: Line | None = None
    name: str | None = None
    key: str = ""
    """By which the one who holds the seat comes back: the digest of its token, which itself is kept nowhere."""
    updates: Updates = "positions"
    software: str = ""
    has_left: bool = False
    """Whether its player has given the running match up, by ``leave``."""
    visit: int = 0
    """Which connection sits here, or did last: every one that takes the seat back has the next number."""

    @property
    def connected(self) -> bool:
        """Whether somebody sits here and can be reached."""
        return self.line is not None

    @property
    def terse(self) -> bool:
        """Whether who sits here counts as ready at once, and is told each position."""
        return self.line is not None and self.line.terse

    def take(self, line: Line, name: str, key: str, updates: Updates, software: str) -> None:
        """Somebody sits down."""
        self.line, self.name, self.key, self.updates, self.software = line, name, key, updates, software

    def take_back(self, line: Line, updates: Updates, software: str) -> None:
        """Who held the seat has it again, over another connection."""
        self.line, self.updates, self.software = line, updates, software
        self.visit += 1

    def vacate(self) -> None:
        """Give the seat back; a reservation opens it again."""
        self.line, self.name, self.key, self.software = None, None, "", ""

    def tell(self, message: FromServer | Encoded[Any]) -> None:
        """Post something to whoever sits here."""
        if self.line is None:
            return
        if isinstance(message, Encoded):
            self.line.post_encoded(message)
        else:
            self.line.post(message)

    async def heard_out(self) -> None:
        """Return when all that has come from whoever sits here has been read, or that takes too long."""
        if self.line is not None:
            await self.line.heard_out()

    def ask(self, message: YourTurn, position: Plain, sent: Callable[[float], None]) -> None:
        """Post a turn, with a position unless that is None; ``sent`` is called when it was handed to the network."""
        if self.line is None:
            return
        if position is None:
            self.line.post(message, sent)
        elif self.terse:
            self.line.post(YourTurn.model_validate({**dict(message), "position": position}), sent)
        else:
            whole = {**message.model_dump(exclude_none=True), "position": position}
            self.line.post_encoded(encode_plain(message, whole), sent)
