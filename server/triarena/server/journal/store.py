"""What the writer thread does: saves batches, one transaction each, and gives a verdict on every record.

Everything here blocks, and one thread at a time may use a store. It has one connection, never two: should SQLite's file
be moved or replaced under several of one process, then closing one would take away the locks of the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from itertools import chain, groupby
from pathlib import Path
from typing import TypeAlias

import sqlalchemy as sa
import structlog
from sqlalchemy import exc

from triarena.server.journal import database, refusals, rows, schema
from triarena.server.journal.fence import Fence
from triarena.server.journal.quick import QuickPlies, in_transaction
from triarena.server.journal.records import (
    JournalError,
    MatchEnded,
    PlyPlayed,
    Record,
    RoomForgotten,
    RoomKept,
)
from triarena.server.journal.sqlite_log import FileId, SqliteLog, file_id

Verdict: TypeAlias = JournalError | None
"""None: the record is durable."""

RETRY_SECONDS = (0.05, 0.25, 1.0)
"""The pauses before each new attempt at what failed for a passing reason."""
_SYNCED = (MatchEnded, RoomKept, RoomForgotten)
"""What is on the disk, in SQLite too, before it counts as saved: a result that was announced, or a reservation that was
given out, must outlive a power cut.
"""
_log = structlog.get_logger("triarena.journal")


class Store:
    """One database with one long-lived connection, renewed when it is lost."""

    def __init__(self, url: str, *, pause: Callable[[float], None] = time.sleep) -> None:
        """Raises JournalError ``bad_url`` or ``driver_missing``. ``pause`` waits for so many seconds."""
        self._url = database.parse_url(url)
        # A file that vanished is not created again later: that would hide the loss.
        self._engine = database.engine(self._url, "rw")
        self._open_connection: sa.Connection | None = None
        self._opened_file: FileId | None = None
        self._pause = pause
        self._mode: tuple[bool, bool] | None = None
        """Whether SQLite's transactions wait for the disk, and for others' locks; None if nobody knows."""
        self._spoilt = False
        """Whether the connection must be closed before it is used again."""
        self._last_rescue: str | None = None
        """Why SQLite's log, which somebody deleted, could not be rescued the last time."""
        self.lost: str | None = None
        """Why what was in it could not be saved before the connection had to be closed."""
        self.place = database.shown(self._url)
        """The database as a message may show it."""
        self._fence = Fence(self.place)
        sqlite = self._url.get_backend_name() == "sqlite"
        self._path = str(self._url.database) if sqlite else None
        self._sqlite_log = SqliteLog(self._path) if self._path is not None else None
        self._quick = QuickPlies(self._engine.dialect) if sqlite else None

    def open(self) -> None:
        """Creates the database if it is not there, and brings its tables up to date. Forgets the rooms whose
        match has ended. Who had it open before can write nothing more.

        Raises JournalError ``cannot_open`` or ``database_too_new``.
        """
        try:
            if self._path is not None:
                Path(self._path).absolute().parent.mkdir(parents=True, exist_ok=True)
            with database.engine(self._url, "rwc").connect() as connection:
                schema.migrate(connection, self.place)
            connection = self._connect()
            self._fence.take(connection)
            connection.execute(rows.FORGET_PLAYED_ROOMS)
        except JournalError:
            self._forget()
            raise
        except Exception as error:  # the driver's, the file system's or alembic's
            self._forget()
            raise database.cannot_open(self.place, error) from error

    def close(self) -> None:
        """Gives the connection back, whatever state it is in. The store may be used again after it."""
        try:
            if self.log_deleted and not self._moved():
                self.lost = self._rescue_log()
        finally:
            self._forget()

    def _forget(self) -> None:
        connection, self._open_connection = self._open_connection, None
        self._spoilt = False
        if connection is not None:
            with suppress(exc.SQLAlchemyError):
                connection.invalidate()
                connection.close()

    def _drop(self) -> None:
        """The connection is of no use any more, unless it alone still has a log that somebody deleted."""
        if not self.log_deleted or self._moved():
            self._forget()

    def save(self, records: Sequence[Record], again: Collection[int] = ()) -> list[Verdict]:
        """Saves records in their order and tells of each whether it is durable.

        Those with an index in ``again`` were given before, in vain as it seemed: found in the database as they are,
        they are durable and no duplicates.

        A record that is refused does not harm the others; once another server writes, all are refused. If the
        database fails for a passing reason, what has no verdict yet is tried again on a new connection, after each of
        the pauses of ``RETRY_SECONDS``.
        """
        if self._moved():
            self._forget()
            return [refusals.moved(self.place)] * len(records)
        if self.log_deleted and (why := self._rescue_log()) is not None:
            return [refusals.log_deleted(self.place, why)] * len(records)
        if self._spoilt:
            self._forget()
        verdicts: list[Verdict] = []
        pauses = iter(RETRY_SECONDS)
        retried = False
        while len(verdicts) < len(records):
            try:
                self._attempt(records, verdicts, range(len(records)) if retried else again, retried=retried)
            except JournalError as replaced:  # by another server, see Fence
                self._drop()
                verdicts += [replaced] * (len(records) - len(verdicts))
            except exc.DBAPIError as error:
                self._drop()
                pause = next(pauses, None)
                if pause is None or self.log_deleted:
                    verdicts += [refusals.unwritable(self.place, error)] * (len(records) - len(verdicts))
                else:
                    self._pause(pause)
                retried = True
            except BaseException:
                self._drop()  # a transaction may have been begun
                raise
        return verdicts

    def save_at_once(self, plies: Sequence[PlyPlayed]) -> bool | None:
        """Save plies without waiting for the disk or for anybody's lock: whether all are committed; None if nobody
        knows. Unless they are, ``save`` is to be asked: which it also is now and then, to do what has to wait.
        """
        connection, log = self._open_connection, self._sqlite_log
        if self._quick is None or log is None or connection is None or not log.in_use or self._spoilt:
            return False
        if log.long or self._moved() or log.deleted:
            return False
        try:
            values = self._quick.values(plies, self._fence)
        except Exception:  # one of them can't be stored; nothing has reached SQLite
            return False
        try:
            self._set_mode(synced=False, patient=False)
            saved = self._quick.insert(connection, values)
        except Exception as error:  # whatever it is, it is explained when it happens again
            if getattr(error, "sqlite_errorname", None) == "SQLITE_BUSY" and not in_transaction(connection):
                return False
            self._spoilt = True  # not closed here, which may wait for the disk
            return None
        log.grew(len(plies))
        return saved

    def _attempt(
        self, records: Sequence[Record], verdicts: list[Verdict], again: Collection[int], *, retried: bool
    ) -> None:
        """Appends the missing verdicts. Raises DBAPIError if the database fails for a passing reason, JournalError if
        it is another server's.
        """
        # After a failure nobody knows whether the transaction was committed, so each record is looked at alone.
        if not retried:
            self._sync(records)
            saved = self._save_quickly(records)
            if saved is None:
                again = range(len(records))
            elif saved or (len(records) > 1 and self._save_together(records)):
                verdicts += [None] * len(records)
                return
        for index in range(len(verdicts), len(records)):
            self._sync(records[index : index + 1])
            verdicts.append(self._save_alone(records[index], again=index in again))

    def _sync(self, records: Sequence[Record]) -> None:
        """Whether the next transaction, which is to hold these, is to wait for the disk. Raises DBAPIError.

        SQLite's log is one file: with the one transaction all that were committed before it are on the disk.
        """
        connection = self._connection()
        if self._sqlite_log is not None:
            if self._sqlite_log.take_back(connection):
                self._mode = None
            self._sqlite_log.grew(len(records))
        self._set_mode(synced=any(isinstance(record, _SYNCED) for record in records), patient=True)

    def _set_mode(self, *, synced: bool, patient: bool) -> None:
        """Whether SQLite's next transactions wait for the disk, and for locks. Raises DBAPIError."""
        connection = self._connection()
        if connection.dialect.name == "sqlite" and self._mode != (synced, patient):
            self._mode = None
            connection.exec_driver_sql(f"PRAGMA synchronous = {'FULL' if synced else 'NORMAL'}")
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {int(database.BUSY_SECONDS * 1000) if patient else 0}")
            self._mode = (synced, patient)

    def _save_quickly(self, records: Sequence[Record]) -> bool | None:
        """Whether these are plies for SQLite, and all were saved; None if nobody knows."""
        plies = [record for record in records if isinstance(record, PlyPlayed)]
        if self._quick is None or len(plies) < len(records):
            return False
        connection = self._connection()
        try:
            values = self._quick.values(plies, self._fence)
        except Exception:  # which of them it is shows when each is tried alone
            return False
        try:
            return self._quick.insert(connection, values)
        except Exception:  # whatever it is, it is explained when it happens again
            self._drop()
            return None

    def _save_together(self, records: Sequence[Record]) -> bool:
        """All records in one transaction; False, and nothing is saved, if that cannot be done."""
        connection = self._begin()
        try:
            statements = chain.from_iterable(map(rows.writing, records))
            for statement, group in groupby(statements, key=lambda pair: pair[0]):
                parameters = [values for _, values in group]
                if connection.execute(statement, parameters).rowcount != len(parameters):
                    break
            else:
                connection.exec_driver_sql("COMMIT")
                return True
        except Exception as error:
            # Whose fault it is shows when each record is tried alone.
            if isinstance(error, exc.DBAPIError) and database.is_passing(error):
                raise
        self._roll_back(connection)
        return False

    def _save_alone(self, record: Record, *, again: bool) -> Verdict:
        """One record in its own transaction. Raises DBAPIError if the database fails for a passing reason."""
        try:
            if self._write(rows.writing(record)) or isinstance(record, RoomForgotten):
                return None
            # It was saved, perhaps, by the attempt that seemed to fail.
            already = rows.stored_as(self._connection(), record)
            return (
                None
                if again and already and refusals.same(already, record)
                else refusals.refused(self._connection(), record)
            )
        except exc.DataError as error:
            return refusals.bad_record(record, error)
        except exc.DBAPIError as error:
            if database.is_passing(error):
                raise
            self._drop()
            return refusals.unwritable(self.place, error)
        except (exc.StatementError, ValueError, TypeError, OverflowError) as error:
            return refusals.bad_record(record, error)

    def _write(self, statements: Sequence[tuple[sa.Executable, rows.Parameters]]) -> bool:
        """Executes all statements or none; False if one does not touch its row."""
        # A lone statement is a transaction of its own, but SQLite's fence needs to be looked at in the same.
        together = len(statements) > 1 or self._url.get_backend_name() == "sqlite"
        connection = self._begin() if together else self._connection()
        done = False
        try:
            done = all(connection.execute(statement, values).rowcount == 1 for statement, values in statements)
            if done and together:
                connection.exec_driver_sql("COMMIT")
        except exc.IntegrityError:
            done = False
        except Exception:
            self._drop()
            raise
        if together and not done:
            self._roll_back(connection)
        return done

    def _begin(self) -> sa.Connection:
        connection = self._connection()
        connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.dialect.name == "sqlite" else "BEGIN")
        self._fence.check(connection)
        return connection

    def _roll_back(self, connection: sa.Connection) -> None:
        try:
            connection.exec_driver_sql("ROLLBACK")
        except exc.DBAPIError:
            self._drop()

    def _connection(self) -> sa.Connection:
        if self._open_connection is None:
            self._fence.enter(self._connect())
        assert self._open_connection is not None
        return self._open_connection

    def _connect(self) -> sa.Connection:
        """A new connection, which is ours. Raises DBAPIError."""
        file = self._file()  # looked at before: replaced meanwhile it counts as moved, and is opened anew
        connection = self._open_connection = self._engine.connect()
        self._opened_file, self._mode, self._spoilt = file, (False, True), False
        if self._sqlite_log is not None:
            self._sqlite_log.connected(connection)
        return connection

    def _file(self) -> FileId | None:
        """Which file is the database now; None for a database that is no file, or whose file is not there."""
        return None if self._path is None else file_id(self._path)

    def _moved(self) -> bool:
        """Whether the file was moved or deleted while it was open: the system would let us write to it all the same."""
        return self._open_connection is not None and self._file() != self._opened_file

    @property
    def log_deleted(self) -> bool:
        """Whether what was announced of late is in a file that somebody deleted."""
        return self._open_connection is not None and self._sqlite_log is not None and self._sqlite_log.deleted

    def _rescue_log(self) -> str | None:
        """A file of SQLite's log was deleted: None if everything is in the database, which is opened anew then, else
        why not.
        """
        connection, log = self._open_connection, self._sqlite_log
        assert connection is not None
        assert log is not None
        self._mode = None
        with suppress(exc.DBAPIError):
            if in_transaction(connection):
                connection.exec_driver_sql("ROLLBACK")
            self._set_mode(synced=True, patient=True)
        why = log.rescue(connection)
        if why != self._last_rescue or why is None:
            about = {"database": self.place, "what": "a -wal or -shm file of the database was deleted or replaced"}
            if why is None:
                _log.warning("journal_log_rescued", **about, hint="everything that was announced is stored")
            else:
                _log.error(
                    "journal_log_deleted", **about, why=why, hint="what was announced is at risk until it is saved"
                )
        self._last_rescue = why
        if why is None:
            self._forget()
        return why
