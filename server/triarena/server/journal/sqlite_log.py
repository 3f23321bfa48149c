"""SQLite's log (``DATABASE-wal``), into which every transaction goes first: that it stays short, and is not lost.

SQLite would take it back into the database by itself, in whatever transaction makes it too long. But the one that then
begins the log anew waits for the disk, and it may be the event loop's. So it is done here, in the journal's thread.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TypeAlias

import sqlalchemy as sa
from sqlalchemy import exc

RECORDS = 1000
"""So many records the log holds, or some more, before it is taken back: some megabytes, unless others read for long."""
RECORDS_UNTIL_AGAIN = 7
"""After so many more that is tried again, if somebody who reads kept the log from beginning anew."""
LONG_PAGES = 3 * RECORDS
"""A log of more pages than this has not begun anew when it should have."""
GROWN_PAGES = 10 * LONG_PAGES
"""So many pages, some 100 MB, a log may grow before those who read are waited for."""
RESTART_SECONDS = 0.5
"""For so long then: who begins to read meanwhile does not hold it up, but who read before and goes on does."""
BYTES = 16 * 1024 * 1024
"""To this size the log's file is cut when it begins anew."""

FileId: TypeAlias = tuple[int, int]


def file_id(path: str) -> FileId | None:
    """Which file has a name now; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


class SqliteLog:
    """The log of an SQLite database, as the connection that writes sees it."""

    def __init__(self, path: str) -> None:
        """``path`` is the database's."""
        self._path = path
        self.in_use = False
        """Whether there is one; without it every transaction would wait for the disk."""
        self._name = ""
        self._file: FileId | None = None
        self._records = RECORDS
        """How many have gone into it since it was last taken back."""
        self._waited_at = 0
        """How many pages it had when those who read were last waited for in vain."""

    def connected(self, connection: sa.Connection) -> None:
        """A new connection writes from now on. Raises DBAPIError."""
        connection.exec_driver_sql("PRAGMA wal_autocheckpoint = 0")
        connection.exec_driver_sql(f"PRAGMA journal_size_limit = {BYTES}")
        self.in_use = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
        connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").all()  # opens the log's file
        self._name = f"{os.path.realpath(self._path)}-wal"  # beside the file itself, whatever way leads there
        self._file = file_id(self._name)
        self._records = RECORDS  # how many there are, nobody knows

    @property
    def long(self) -> bool:
        """Whether it is to be taken back before more goes into it."""
        return self._records >= RECORDS

    @property
    def deleted(self) -> bool:
        """Whether somebody has deleted or replaced its file, to which SQLite goes on writing all the same."""
        return self.in_use and file_id(self._name) != self._file

    def grew(self, records: int) -> None:
        """So many more have gone into it."""
        self._records += records

    def take_back(self, connection: sa.Connection) -> bool:
        """Have it taken back into the database if it is long. The transaction that follows, which is to be the
        thread's, begins it anew, and waits for the disk to do so. While somebody reads, it may have to go on: then it
        is tried again soon. Whether the connection may have lost its patience for locks.
        """
        if not self.long:
            return False
        impatient = False
        self._records = RECORDS - RECORDS_UNTIL_AGAIN
        with suppress(exc.DBAPIError):  # what is wrong shows again
            busy, pages, taken = _checkpoint(connection, "PASSIVE")
            if not busy and taken == pages and pages < LONG_PAGES:
                self._records = self._waited_at = 0
            elif pages >= self._waited_at + GROWN_PAGES:
                impatient = True
                connection.exec_driver_sql(f"PRAGMA busy_timeout = {int(RESTART_SECONDS * 1000)}")
                busy, pages, _ = _checkpoint(connection, "RESTART")
                self._waited_at = pages if busy else 0
        return impatient

    def rescue(self, connection: sa.Connection) -> bool:
        """Its file was deleted: bring all that it holds into the database, over the connection that still has it.
        Whether that is done; else somebody reads what must not change yet, or the disk takes nothing.
        """
        with suppress(exc.DBAPIError):
            busy, pages, taken = _checkpoint(connection, "FULL")
            return not busy and pages == taken
        return False


def _checkpoint(connection: sa.Connection, kind: str) -> tuple[int, int, int]:
    """Whether something was in the way (1), the pages of the log, and how many of them are in the database. The latter
    two are -1 if that is not known.
    """
    busy, pages, taken = connection.exec_driver_sql(f"PRAGMA wal_checkpoint({kind})").one()
    return busy, pages, taken
