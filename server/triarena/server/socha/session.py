"""One connection's side of the Software-Challenge's XML: its bytes to our protocol's messages, and back.

It stands where a session of our own protocol stands, so that behind it are the same guests, rooms and referee. What
the XML does not say, it adds (which ply a move is for); what the XML has no word for, it leaves out. No I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from triarena.protocol.codec import Encoded
from triarena.protocol.errors import LocalProtocolError
from triarena.protocol.from_client import FromClient
from triarena.protocol.from_server import FromServer, Goodbye, Refused
from triarena.protocol.session import PIPELINE, Fault
from triarena.protocol.table import Phase
from triarena.server.wire import Bye, Declined

from .answers import Mementos
from .conversation import Conversation
from .hearing import MESSAGES, understand
from .markup import written
from .reading import XmlReader
from .telling import tell

HIDDEN: Final = ("password", "reservationCode")
"""Attributes of which no record is kept."""


class XmlSession:
    """Make one for each connection; see ``Wire`` for what it does."""

    __slots__ = ("_begun", "_closed", "_conversation", "_mementos", "_reader", "_rules", "on_payload")

    def __init__(self, rules: str, mementos: Mementos) -> None:
        """``rules`` is the profile of the rooms that are opened over it; ``mementos`` is shared by all sessions."""
        self.on_payload: Callable[[bytes], None] | None = None
        self._rules = rules
        self._mementos = mementos
        self._reader = XmlReader(MESSAGES)
        self._conversation = Conversation()
        self._begun = False
        self._closed = False

    @property
    def phase(self) -> Phase:
        """New until the client has opened its document."""
        if self._closed:
            return Phase.CLOSED
        return Phase.OPEN if self._reader.opened else Phase.NEW

    @property
    def greeting(self) -> str:
        """See ``Wire``."""
        return "opened document (<protocol>)"

    @property
    def owes(self) -> bool:
        """Always: there is no ping in this protocol."""
        return True

    @property
    def full(self) -> bool:
        """See ``Wire``. The original takes any number: here they wait unread, and none is refused."""
        return len(self._conversation.asked) >= PIPELINE

    def is_outside(self, room: str) -> bool:
        """See ``Wire``."""
        return room not in self._conversation.places

    def receive(self, data: bytes) -> Sequence[FromClient | Fault | Declined | Bye]:
        """See ``Wire``."""
        items: list[FromClient | Fault | Declined | Bye] = []
        for element in self._reader.feed(data):
            if self.on_payload is not None:
                self.on_payload(written(element, HIDDEN).encode())
            last = understand(element, self._conversation, self._rules)
            if last is None:
                continue
            items.append(last)
            if isinstance(last, Bye) or (isinstance(last, Fault) and last.fatal):
                return items
        failure = self._reader.failure
        if failure is not None:
            if self.on_payload is not None:
                self.on_payload(data)
            items.append(Fault(failure.code, failure.message, fatal=True))
        elif self._reader.closed:
            items.append(Bye())
        return items

    def receive_eof(self) -> Fault | None:
        """See ``Wire``; these clients may hang up at any time."""
        self._closed = True
        return None

    def send(self, message: FromServer) -> bytes:
        """See ``Wire``."""
        return self._say(message, None)

    def send_encoded(self, encoded: Encoded[Any]) -> bytes:
        """See ``Wire``."""
        return self._say(encoded.message, encoded.data)

    def _say(self, message: FromServer, packed: bytes | None) -> bytes:
        """The next piece of our document; its root stands before the first one."""
        try:
            text = "".join(tell(message, packed, self._conversation, self._mementos))
        except (KeyError, IndexError) as error:  # nobody asked for it, or a room is not known here: our own fault
            raise LocalProtocolError(f"{message.type!r} does not fit what was said before ({error!r})") from error
        if isinstance(message, Refused | Goodbye):
            self._closed = True
        if text and not self._begun:
            self._begun = True
            text = f"<protocol>{text}"
        return text.encode()
