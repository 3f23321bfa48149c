"""The bytes that wait to be written to one client, and when each message counts as handed to the network."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import trio

from .stamps import StampedStream

Sent: TypeAlias = Callable[[float], None]
"""Told when a message has been handed to the network, in trio's time."""

UNREAD_SECONDS = 0.02
"""A write that takes longer than this, and not by the server's own lag, waits for a peer that doesn't read."""


class Outbox:
    """What waits for one client, in order. Adding never waits; ``flush`` writes all of it at once."""

    __slots__ = ("_entries", "_lag_since", "_writing_since", "messages", "size")

    def __init__(self, lag_since: Callable[[float], float]) -> None:
        """``lag_since``: see ``lag``."""
        self._lag_since = lag_since
        self._writing_since: float | None = None
        self._entries: list[tuple[bytes, Sent | None]] = []
        self.size = 0
        """Bytes that wait, those that are being written included."""
        self.messages = 0
        """Messages that wait, those that are being written left out."""

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, data: bytes, sent: Sent | None, messages: int, now: float) -> None:
        """The bytes of so many messages wait from now on; ``sent`` is told when they have been handed over."""
        since = self._writing_since
        if sent is not None and since is not None and self._unread(since, now):
            sent(now)  # the clock of a turn can't wait for a peer that does not read what was sent before
            sent = None
        self.size += len(data)
        self.messages += messages
        self._entries.append((data, sent))

    def clear(self) -> None:
        """Drop what waits, but not what is being written."""
        self.size -= sum(len(data) for data, _ in self._entries)
        self._entries.clear()
        self.messages = 0

    async def flush(self, stream: trio.abc.HalfCloseableStream, patience: float) -> None:
        """Write everything that waits with one call. Raises trio.TooSlowError if that takes longer than ``patience``
        seconds, and what the stream raises.
        """
        batch, size = self._entries, self.size
        self._entries, self.messages = [], 0
        began = self._writing_since = trio.current_time()
        data = b"".join([data for data, _ in batch])
        written = stream.send_now(data) if isinstance(stream, StampedStream) else 0
        if written < len(data):
            with trio.fail_after(patience):
                await stream.send_all(data[written:])
        self._writing_since = None
        self.size -= size
        now = trio.current_time()
        if self._unread(began, now):
            now = began  # the peer had left no room for it: it may not think for free by not reading
        for _, sent in batch:
            if sent is not None:
                sent(now)

    def _unread(self, since: float, now: float) -> bool:
        """Whether a write since then took long because of the peer, and not of our own lag."""
        return now - since > UNREAD_SECONDS and now - since > 2 * self._lag_since(since)
