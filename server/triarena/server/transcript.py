"""What was last said over a connection, in both directions, as it went over the wire: bounded, and without secrets
once it is told.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import msgpack

from triarena.protocol.frames import HEADER

KEPT_FRAMES: Final = 32
"""Of each direction."""
KEPT_BYTES: Final = 2048
"""Of each frame's payload."""
SECRETS: Final = ("secret", "token", "reservation", "password")
"""A field whose name has one of these inside is never told; an unreadable frame that has one is not told at all."""
HIDDEN: Final = "(not kept)"
_DEPTH: Final = 8
"""Deeper than any message of the protocol."""


@dataclass(slots=True)
class Frame:
    """A frame's payload, cut; moments are trio's."""

    payload: bytes
    size: int
    """Before it was cut."""
    at: float
    """When it arrived, or was queued."""
    taken: float | None = None
    """When one of ours was handed to the network; None if it never was."""

    def noting(self, sent: Callable[[float], None] | None) -> Callable[[float], None]:
        """What notes when this one was handed to the network, and tells ``sent``."""

        def handed_over(at: float) -> None:
            self.taken = at
            if sent is not None:
                sent(at)

        return handed_over


def _ring() -> deque[Frame]:
    return deque(maxlen=KEPT_FRAMES)


@dataclass(slots=True)
class Transcript:
    """Keeps the last frames of a connection."""

    received: deque[Frame] = field(default_factory=_ring)
    sent: deque[Frame] = field(default_factory=_ring)

    def hear(self, payload: bytes, at: float) -> None:
        """The client sent this."""
        self.received.append(Frame(payload[:KEPT_BYTES], len(payload), at))

    def say(self, data: bytes, at: float, header: int = HEADER) -> Frame:
        """The server queued this, of which the contents begin behind the header."""
        frame = Frame(data[header : header + KEPT_BYTES], len(data) - header, at)
        self.sent.append(frame)
        return frame

    def told(self, when: Callable[[float], datetime]) -> dict[str, Any]:
        """As JSON data: ``from_client`` and ``to_client``, the oldest first. ``when`` turns trio's time into UTC."""
        return {"from_client": _told(self.received, when), "to_client": _told(self.sent, when)}


def _told(frames: Iterable[Frame], when: Callable[[float], datetime]) -> list[dict[str, Any]]:
    return [
        {
            "at": when(frame.at).isoformat(timespec="milliseconds"),
            "taken": None if frame.taken is None else when(frame.taken).isoformat(timespec="milliseconds"),
            "bytes": frame.size,
            **content(frame.payload, cut=frame.size > len(frame.payload)),
        }
        for frame in frames
    ]


def content(payload: bytes, *, cut: bool) -> dict[str, Any]:
    """What a payload says, as JSON data: ``message``, with as many fields as are whole if it was cut, or ``hex``."""
    if payload.lstrip()[:1] == b"<":
        return _xml(payload, cut=cut)
    fields, complete = _fields(payload)
    if fields is not None and (complete or cut):
        return {"message": fields, "cut": True} if cut else {"message": fields}
    if any(word.encode() in payload.lower() for word in SECRETS):
        return {"hex": HIDDEN}
    return {"hex": payload.hex(), "cut": True} if cut else {"hex": payload.hex()}


def _xml(payload: bytes, *, cut: bool) -> dict[str, Any]:
    """The text of a client of the Software-Challenge, or to one, shaped like a message."""
    text = HIDDEN if _is_secret(payload.decode(errors="replace")) else payload.decode(errors="replace").strip()
    return {"message": {"type": "xml", "text": text}, **({"cut": True} if cut else {})}


def _fields(payload: bytes) -> tuple[dict[str, Any] | None, bool]:
    """The fields of a map that can be read, None if it is no map; and whether these are all there is."""
    # The bound on the buffer is also one on the lengths that a list may announce.
    unpacker = msgpack.Unpacker(max_buffer_size=max(1, len(payload)), strict_map_key=False)
    unpacker.feed(payload)
    fields: dict[str, Any] = {}
    try:
        for _ in range(unpacker.read_map_header()):
            name, value = _plain(unpacker.unpack(), _DEPTH), unpacker.unpack()
            fields[str(name)] = HIDDEN if _is_secret(name) else _plain(value, _DEPTH)
        return fields, unpacker.tell() == len(payload)
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException):
        return fields or None, False


def _is_secret(name: object) -> bool:
    return any(word in str(name).lower() for word in SECRETS)


def _plain(value: Any, depth: int) -> Any:
    """A value as JSON can hold it, whatever msgpack had in it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        return value.hex()
    if depth == 0:
        return "..."
    if isinstance(value, list | tuple):
        return [_plain(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {str(key): HIDDEN if _is_secret(key) else _plain(item, depth - 1) for key, item in value.items()}
    return str(value)
