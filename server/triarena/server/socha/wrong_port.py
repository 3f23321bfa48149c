"""The wrong port: whoever opens a document at the port of our own protocol is told the right one in XML, and whoever
sends a frame of ours at the port for XML is told it in such a frame.

Everything else is as in every session of either protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from triarena.protocol.codec import encode
from triarena.protocol.frames import HEADER, TO_SERVER, XML
from triarena.protocol.from_client import FROM_CLIENT, FromClient
from triarena.protocol.from_server import FromServer, Refused
from triarena.protocol.session import Fault, Session
from triarena.protocol.table import Phase, Role
from triarena.server.wire import Bye, Declined, Tongue

from .answers import Mementos, errorpacket
from .conversation import Asked
from .session import XmlSession

NO_PORT: Final = "clients of the Software-Challenge can play here when the server is started with --socha"

WRONG_PORT: Final = "wrong_port"
"""The code of what begins like a frame of ours, where XML is spoken."""
NOT_XML: Final = "not_xml"
"""The code of what can be no document."""
TLS: Final = b"\x16\x03"
"""So begins a TLS handshake, in whatever version."""
HTTP: Final = (b"GET ", b"HEAD ", b"POST ", b"PUT ", b"OPTIONS ", b"CONNECT ")
"""So begin requests of browsers, and of those who look for web servers."""


def usual_tongue(port: int | None) -> Tongue:
    """Our own protocol; ``port`` is the one for clients of the Software-Challenge, if there is one."""
    advice = NO_PORT if port is None else f"clients of the Software-Challenge connect to port {port}"
    return Tongue(partial(_UsualSession, f"this is XML: {advice}"), header=HEADER)


class _UsualSession(Session[FromServer, FromClient]):
    """A server's session that knows XML when it sees it, and one sentence of it."""

    __slots__ = ("_advice", "_is_xml")

    def __init__(self, advice: str) -> None:
        super().__init__(Role.SERVER, FROM_CLIENT, TO_SERVER)
        self._advice = advice
        self._is_xml = False

    def receive(self, data: bytes) -> list[FromClient | Fault]:
        """See Session."""
        items = super().receive(data)
        if self.phase is Phase.NEW and items and isinstance(items[0], Fault) and items[0].code == XML:
            self._is_xml = True
            return [Fault(XML, self._advice, fatal=True)]
        return items

    def send(self, message: FromServer) -> bytes:
        """See Session."""
        data = super().send(message)
        if self._is_xml and isinstance(message, Refused):
            return f"<protocol>{errorpacket(message, Asked('protocol'))}\n</protocol>\n".encode()
        return data


class GatewaySession(XmlSession):
    """A session for XML that knows one of our frames when it sees it, and one sentence of our protocol."""

    __slots__ = ("_first", "_framed", "_usual_port")

    def __init__(self, rules: str, mementos: Mementos, usual_port: int | None) -> None:
        """``usual_port`` is the one of our own protocol."""
        super().__init__(rules, mementos)
        self._usual_port = usual_port
        self._first: bytes | None = b""
        """What has come, until it is known what it is."""
        self._framed = False

    def receive(self, data: bytes) -> Sequence[FromClient | Fault | Declined | Bye]:
        """See ``Wire``."""
        if self._first is None:
            return super().receive(data)
        data, self._first = self._first + data, None
        if data.startswith(TLS):
            return [Fault(WRONG_PORT, f"this is TLS, which there is none of at this port: {self._advice}", fatal=True)]
        if data.startswith(HTTP):
            sentence = "this is no XML (is this HTTP?): only clients of the Software-Challenge can play at this port"
            return [Fault(NOT_XML, sentence, fatal=True)]
        half = any(len(data) < len(whole) and whole.startswith(data) for whole in (TLS, *HTTP))
        if half or (len(data) <= HEADER and data[:2] in (b"", b"\0", b"\0\0")):
            self._first = data
            return []
        if not data.startswith(b"\0\0") or not _is_map(data[HEADER]):  # a frame has 16 KiB at most
            return super().receive(data)
        self._framed = True
        return [Fault(WRONG_PORT, f"this port is for clients of the Software-Challenge: {self._advice}", fatal=True)]

    def send(self, message: FromServer) -> bytes:
        """See Session."""
        data = super().send(message)
        return encode(message).data if self._framed and isinstance(message, Refused) else data

    @property
    def _advice(self) -> str:
        """Where else to go."""
        port = "the server's other port" if self._usual_port is None else f"port {self._usual_port}"
        return f"all others connect to {port}"


def _is_map(first: int) -> bool:
    """Whether a msgpack map begins with this byte, as every message does."""
    return 0x80 <= first <= 0x8F or first in (0xDE, 0xDF)
