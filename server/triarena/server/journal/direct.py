"""Plies for SQLite, saved by the event loop itself as long as that takes no time.

A ply is not synced (see the package), so that saving one takes some 25 µs, in which nothing is waited for. To hand it
to the journal's thread and to hear of it takes several times as long, since both threads wait for the interpreter's
lock at every step. All else is the thread's: what is synced or refused, whatever goes wrong, what must be explained.

The disk may keep even an unsynced write waiting. So who took long is not asked again for a while: a slow disk delays
its matches, as it would behind the thread, and holds up the loop once in ``REST_SECONDS``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import sqlalchemy as sa
import structlog
from sqlalchemy import exc

from triarena.server.journal.fence import Fence
from triarena.server.journal.quick import QuickPlies
from triarena.server.journal.records import PlyPlayed

LONG_SECONDS = 0.02
"""What takes longer than this was kept waiting."""
REST_SECONDS = 10.0
"""So long after that, or after a failure, the thread saves everything."""
IN_A_ROW = 500
"""After so many transactions the thread has one, after which SQLite takes its log back into the database, and waits for
the disk to do so.
"""
_log = structlog.get_logger("triarena.journal")


class DirectPlies:
    """A connection of the loop's own to a database that ``Store`` has opened. Only while the thread writes nothing."""

    def __init__(
        self,
        engine: sa.Engine,
        quick: QuickPlies,
        fence: Fence,
        file: Callable[[], object],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """``file`` tells which file the database is at the moment; ``clock`` runs in seconds, from wherever."""
        self._engine, self._quick, self._fence = engine, quick, fence
        self._file, self._clock = file, clock
        self._connection: sa.Connection | None = None
        self._opened_file: object = None
        self._rests_until = 0.0
        self._in_a_row = 0

    def save(self, plies: Sequence[PlyPlayed]) -> bool:
        """Whether all of them are committed now; if not, none is, or it is not known, and the thread is to look."""
        began = self._clock()
        if began < self._rests_until:
            return False
        if self._in_a_row >= IN_A_ROW:
            self._in_a_row = 0
            return False
        self._in_a_row += 1
        try:
            saved = self._attempt(plies)
        except Exception:  # whatever it is, the thread finds it again, and explains it
            self.close()
            self._rests_until = began + REST_SECONDS
            return False
        if (took := self._clock() - began) > LONG_SECONDS:
            self._rests_until = began + took + REST_SECONDS
            _log.info("journal_slow", seconds=round(took, 3), hint="the disk kept the server waiting")
        return saved

    def _attempt(self, plies: Sequence[PlyPlayed]) -> bool:
        """Raises what the driver raises."""
        if self._connection is None:
            self._connection, self._opened_file = self._engine.connect(), self._file()
            self._connection.exec_driver_sql("PRAGMA busy_timeout = 0")
            self._connection.exec_driver_sql("PRAGMA wal_autocheckpoint = 0")
            if self._connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() != "wal":
                raise OSError("without its log SQLite waits for the disk after every ply")
        elif self._file() != self._opened_file:
            raise OSError("the database was moved or deleted")
        return self._quick.insert(self._connection, self._fence, plies)

    def close(self) -> None:
        """Give the connection back; another is made when it is needed."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(exc.SQLAlchemyError):
                connection.invalidate()
                connection.close()
