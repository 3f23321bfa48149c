"""What a connection bears, whom it tells what it hears, and how it says that it is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from triarena.protocol.from_client import FromClient
from triarena.protocol.from_server import Error
from triarena.protocol.session import Fault

from .rate import UNHURRIED, Pace

LossReason = Literal["disconnected", "stalled", "protocol_violation"]


@dataclass(frozen=True, slots=True)
class Loss:
    """Why a connection ended."""

    reason: LossReason
    message: str
    final: bool = False
    """Whoever sat there may not come back: it was thrown out, not cut off."""


LOST = Loss("disconnected", "the connection was lost")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long, and how much, a connection bears."""

    greeting: float
    """Seconds until the client must have said hello."""
    write: float
    """Seconds in which a write must have been taken."""
    heartbeat: float
    """Seconds of silence after which the client is pinged, and again until it is gone."""
    bad_frames: int
    """How many frames that are no valid message are answered before the connection is closed."""
    queue_bytes: int
    """How many bytes may wait to be written."""
    pace: Pace = UNHURRIED
    """How fast the client may send."""


class Handler(Protocol):
    """Who acts on what a connection hears. Called in order of arrival; must not block."""

    def heard(self, message: FromClient, at: float) -> None:
        """A message; ``at`` is when its last byte arrived."""
        ...

    def misread(self, answer: Error) -> None:
        """A request could not be read, or meant; ``answer`` is to be sent after those of the requests before it."""
        ...

    def violated(self, fault: Fault) -> None:
        """The client said in a room what it may not say there now."""
        ...

    def gone(self) -> None:
        """Nothing more will be heard; ``loss`` says why. Called once, before the farewell."""
        ...
