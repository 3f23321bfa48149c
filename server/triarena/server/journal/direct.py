"""Plies for SQLite, saved by the event loop itself as long as that takes no time.

A ply is not synced (see the package), so that saving one takes some 25 µs, in which nothing is waited for. To hand it
to the journal's thread and to hear of it takes several times as long, since both threads wait for the interpreter's
lock at every step. All else is the thread's: what is synced or refused, whatever goes wrong, what must be explained.

The disk may keep even an unsynced write waiting. So after one that took long the thread saves everything for a while: a
slow disk then delays its matches and not the loop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import structlog

from triarena.server.journal.records import PlyPlayed
from triarena.server.journal.store import Store

LONG_SECONDS = 0.1
"""What takes longer than this was kept waiting, by the disk or by whoever else has the processor."""
REST_SECONDS = 10.0
"""So long after that the thread saves everything."""
_log = structlog.get_logger("triarena.journal")


class DirectPlies:
    """A way into a store past the thread; only while that does nothing, since it is the same connection."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.perf_counter) -> None:
        """``clock`` runs in seconds, from wherever."""
        self._store, self._clock = store, clock
        self._rests_until = -REST_SECONDS

    def save(self, plies: Sequence[PlyPlayed]) -> bool | None:
        """Whether all of them are committed now, if not none is; None if nobody knows, and the thread is to look."""
        began = self._clock()
        if began < self._rests_until:
            return False
        saved = self._store.save_at_once(plies)
        if (took := self._clock() - began) > LONG_SECONDS:
            self._rests_until = began + took + REST_SECONDS
            _log.info("journal_slow", seconds=round(took, 3), hint="the server itself had to wait for its disk")
        return saved
