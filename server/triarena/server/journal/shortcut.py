"""Plies that the event loop saves itself, since to hand one to the writer thread and back costs several times as much.

Only while nothing is pending in the thread, so that records keep their order and the store still has one user at a
time; only into SQLite, where a ply is written to the system's memory and waits neither for the disk nor for another
process. What the loop must not wait for is left to the thread: another process's lock, checkpoints of the log, anything
that goes wrong, and for a while every ply, once the system was slow to take one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import sqlalchemy as sa
from sqlalchemy import exc

from triarena.server.journal.fence import Fence
from triarena.server.journal.quick import QuickPlies
from triarena.server.journal.records import PlyPlayed

IN_A_ROW = 256
"""After so many plies the thread saves one, and makes a checkpoint of the log if that has become long."""
SLOW_SECONDS = 0.02
"""What takes longer is left to the thread ..."""
REST_SECONDS = 5.0
"""... for so long."""


class Shortcut:
    """Into one SQLite database, over a connection of its own that waits for nobody's lock.

    ``engine`` makes that connection; ``clock`` tells seconds.
    """

    def __init__(self, engine: sa.Engine, fence: Fence, quick: QuickPlies, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._fence = fence
        self._quick = quick
        self._clock = clock
        self._connection: sa.Connection | None = None
        self._in_a_row = 0
        self._rests_until = clock()

    def open(self) -> None:
        """Raises DBAPIError."""
        self._connection = self._engine.connect()
        self._connection.exec_driver_sql("PRAGMA wal_autocheckpoint = 0")  # it waits for the disk

    def close(self) -> None:
        """Until it is opened again, nothing is saved here."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(exc.SQLAlchemyError):
                connection.invalidate()
                connection.close()

    def thread_saved(self) -> None:
        """The thread has looked after the log."""
        self._in_a_row = 0

    def save(self, ply: PlyPlayed) -> bool | None:
        """Whether the ply is durable now; None if nobody knows. The thread is the one to find out why it is not."""
        began = self._clock()
        if self._connection is None or self._in_a_row >= IN_A_ROW or began < self._rests_until:
            return False
        self._in_a_row += 1
        try:
            return self._quick.insert(self._connection, self._fence, [ply])
        except Exception:  # whatever it is, it is explained when it happens again in the thread
            self.close()
            return None
        finally:
            ended = self._clock()
            if ended - began > SLOW_SECONDS:
                self._rests_until = ended + REST_SECONDS
