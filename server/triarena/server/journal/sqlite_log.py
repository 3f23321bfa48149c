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

from triarena.server.journal import database

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

WRITTEN = "another program has written to the database since"
"""Why a deleted log is not brought into the database any more: it would write over that."""

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
        self._names: tuple[str, str] = "", ""
        """Of the log itself, and of the index that all who have the database open share."""
        self._files: tuple[FileId | None, FileId | None] = None, None
        self._records = RECORDS
        """How many have gone into it since it was last taken back."""
        self._waited_at = 0
        """How many pages it had when those who read were last waited for in vain."""

    def connected(self, connection: sa.Connection) -> None:
        """A new connection writes from now on. Raises DBAPIError."""
        self.in_use = False
        connection.exec_driver_sql("PRAGMA wal_autocheckpoint = 0")
        connection.exec_driver_sql(f"PRAGMA journal_size_limit = {BYTES}")
        has_log = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
        connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").all()  # opens the log's file
        beside = os.path.realpath(self._path)  # the file itself, whatever way leads there
        self._names = f"{beside}-wal", f"{beside}-shm"
        self._files = file_id(self._names[0]), file_id(self._names[1])
        self._records, self._waited_at = RECORDS, 0  # how many there are, nobody knows
        self.in_use = has_log

    @property
    def long(self) -> bool:
        """Whether it is to be taken back before more goes into it."""
        return self._records >= RECORDS

    @property
    def deleted(self) -> bool:
        """Whether somebody has deleted or replaced one of its files, to which SQLite goes on writing all the same."""
        return self.in_use and (
            None in self._files or (file_id(self._names[0]), file_id(self._names[1])) != self._files
        )

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

    def rescue(self, connection: sa.Connection) -> str | None:
        """A file of it was deleted: bring all that it holds into the database, over the connection that still has it,
        and give it up. None if that is done, else why not.

        Nobody else may have the database open: whoever has, holds the deleted file, or begins another one, and what
        both would then write to the database contradicts itself.
        """
        if file_id(self._names[0]) != self._files[0] and _size(self._names[0]) > 0:
            return WRITTEN
        try:
            busy, pages, taken = _checkpoint(connection, "FULL")
            if busy or pages != taken:
                return "another program reads from the database"
            # Only now, since it would give the log up whether or not the disk takes all of it.
            connection.exec_driver_sql("PRAGMA journal_mode = DELETE").all()
            with suppress(exc.DBAPIError):  # without it each ply waits for the disk, but nothing is lost
                connection.exec_driver_sql("PRAGMA journal_mode = WAL").all()
        except exc.DBAPIError as error:
            if database.is_locked(error):
                return "another program has the database open"
            return database.cause(error)
        return None


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _checkpoint(connection: sa.Connection, kind: str) -> tuple[int, int, int]:
    """Whether something was in the way (1), the pages of the log, and how many of them are in the database. The latter
    two are -1 if that is not known.
    """
    busy, pages, taken = connection.exec_driver_sql(f"PRAGMA wal_checkpoint({kind})").one()
    return busy, pages, taken
