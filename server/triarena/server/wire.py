"""What a connection needs to know about the protocol that is spoken over it: bytes in, messages out, and back.

Ours (``triarena.protocol.session``) is one, the Software-Challenge's XML (``socha``) another; lobby, rooms and referee
know neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from triarena.protocol.codec import Encoded
from triarena.protocol.frames import HEADER
from triarena.protocol.from_client import FromClient
from triarena.protocol.from_server import Error, FromServer
from triarena.protocol.session import Fault, server_session
from triarena.protocol.table import Phase

GOODBYE: Final = "goodbye"
"""The code with which a connection is closed when its client has said so."""


@dataclass(frozen=True, slots=True)
class Bye:
    """The client says that it goes, in a protocol that has a word for it."""


@dataclass(frozen=True, slots=True)
class Declined:
    """The client asks, in words that there are, for what can't be: it is answered like a request that is refused."""

    answer: Error


class Wire(Protocol):
    """One connection's state machine. No I/O, no clock."""

    on_payload: Callable[[bytes], None] | None
    """Told what came, before it is understood; for whoever keeps a record."""

    @property
    def phase(self) -> Phase:
        """How far the conversation is."""
        ...

    @property
    def greeting(self) -> str:
        """With what the client begins, for a sentence."""
        ...

    @property
    def owes(self) -> bool:
        """Whether the client's silence means nothing, and it is not to be pinged."""
        ...

    @property
    def full(self) -> bool:
        """Whether so many requests are unanswered that nothing more is to be read before some are."""
        ...

    def is_outside(self, room: str) -> bool:
        """Whether the conversation has not been about a room, as far as is remembered."""
        ...

    def send(self, message: FromServer) -> bytes:
        """The bytes to write for a message, perhaps none. Raises LocalProtocolError if it may not be sent now."""
        ...

    def send_encoded(self, encoded: Encoded[Any]) -> bytes:
        """Like ``send``, for a message that was packed once for many."""
        ...

    def receive(self, data: bytes) -> Sequence[FromClient | Fault | Declined | Bye]:
        """What ``data`` completes, in order. A fatal fault, or a goodbye, is the last item."""
        ...

    def receive_eof(self) -> Fault | None:
        """The stream has ended; a fault if it ended inside a message."""
        ...


@dataclass(frozen=True, slots=True)
class Tongue:
    """A protocol that clients may speak."""

    session: Callable[[], Wire]
    """For a new connection."""
    header: int = 0
    """How many bytes stand before the contents of a message that is sent."""
    terse: bool = False
    """It has no ``ready``, so that its players are ready at once; and they, too, are told the position after each ply,
    as observers are.
    """


MSGPACK = Tongue(server_session, header=HEADER)
"""Our own."""
