"""XML at the port of our own protocol: whoever opens a document there is told the right port, in XML.

Everything else is as in every session of our protocol.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from triarena.protocol.frames import HEADER, TO_SERVER, XML
from triarena.protocol.from_client import FROM_CLIENT, FromClient
from triarena.protocol.from_server import FromServer, Refused
from triarena.protocol.session import Fault, Session
from triarena.protocol.table import Phase, Role
from triarena.server.wire import Tongue

from .answers import errorpacket
from .conversation import Asked

NO_PORT: Final = "clients of the Software-Challenge can play here when the server is started with --socha"


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
