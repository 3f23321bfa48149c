"""Frames: a 4-byte unsigned big-endian length, then that many bytes of msgpack."""

from __future__ import annotations

import re
from typing import Final

from .errors import RemoteProtocolError

HEADER: Final = 4
TO_SERVER: Final = 16 * 1024
"""The largest payload a client may send, in bytes."""
TO_CLIENT: Final = 1024 * 1024
"""The largest payload a server may send, in bytes."""
WITH_XML: Final = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\0]*<")
"""How XML begins: behind what marks its encoding (which may be UTF-16), and maybe blanks."""
BEFORE_XML: Final = frozenset(b"<\xef\xff\xfe \t\r\n")
"""Its first byte; every length that begins so is beyond all limits."""
XML: Final = "xml"
"""The code of what begins like XML: somebody has taken another port for this one."""


def frame(payload: bytes) -> bytes:
    """``payload`` with its length in front."""
    return len(payload).to_bytes(HEADER, "big") + payload


class FrameReader:
    """Collects bytes, hands out whole payloads. Holds no more than one frame and what came behind it in one read."""

    __slots__ = ("_buffer", "_limit")

    def __init__(self, limit: int) -> None:
        self._buffer = bytearray()
        self._limit = limit

    @property
    def mid_frame(self) -> bool:
        """Whether a frame has begun and is not complete."""
        return bool(self._buffer)

    def feed(self, data: bytes) -> None:
        """Add what came from the peer."""
        self._buffer += data

    def next_payload(self) -> bytes | None:
        """The next whole payload, or None until more bytes are fed.

        Raises RemoteProtocolError if it begins like XML, or as soon as its header announces more than the limit:
        nothing of such a frame is waited for.
        """
        if self._buffer and self._buffer[0] in BEFORE_XML and WITH_XML.match(self._buffer):
            raise RemoteProtocolError(XML, "this begins like XML, and no frame is so long")
        if len(self._buffer) < HEADER:
            return None
        size = int.from_bytes(self._buffer[:HEADER], "big")
        if size > self._limit:
            raise RemoteProtocolError("frame_too_large", self._too_large(size))
        if len(self._buffer) < HEADER + size:
            return None
        payload = bytes(self._buffer[HEADER : HEADER + size])
        del self._buffer[: HEADER + size]
        return payload

    def _too_large(self, size: int) -> str:
        start = bytes(self._buffer[:HEADER])
        sentence = f"a frame of {size} bytes was announced; the limit is {self._limit}"
        if start.isalpha() or start.strip().isalpha():
            return sentence + f" (its length was sent as the text {start.decode('ascii', 'replace')!r}: is this HTTP?)"
        if start[:2] == b"\x16\x03":
            return sentence + " (it looks like a TLS handshake: this port speaks the plain protocol)"
        return sentence + " (is the length in front of the message 4 bytes, big-endian?)"
