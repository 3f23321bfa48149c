"""One server per database: who writes to it holds a claim, and the death of its process releases it.

SQLite: the operating system's lock on a file beside the database; a second file tells who holds it. PostgreSQL: a
session's advisory lock, on a connection of its own whose ``application_name`` tells who holds it. Reading needs no
claim.
"""

from __future__ import annotations

import os
import platform
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import filelock
import sqlalchemy as sa
import structlog
import trio
from sqlalchemy import exc

from triarena.server.journal import database
from triarena.server.journal.records import JournalError

PATIENCE_SECONDS = 2.0
"""How long a claim of somebody else's is waited for: a killed process may need a moment to be gone."""
RETRY_SECONDS = 0.1
LOOK_SECONDS = 1.0
"""How often it is looked whether the lock's file is still there."""
_OURSELVES = f"process {os.getpid()} on {platform.node()}"
_SESSION_SETTINGS = {
    "application_name": f"triarena, {_OURSELVES}",
    "idle_session_timeout": "0",
    # So that PostgreSQL notices when our machine is gone, and frees the claim.
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "3",
    "tcp_keepalives_count": "3",
}
_HOLDER = sa.text(
    "SELECT a.application_name, host(a.client_addr) AS address FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
    " WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1"
    " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND (l.classid::bigint << 32) + l.objid::bigint = :key"
)
_log = structlog.get_logger("triarena.journal")


class _Hold(Protocol):
    """A lock of one of the databases. Its methods but the last block."""

    def take(self) -> str | None:
        """Make it ours: None if it is now, else who has it. Raises JournalError if there is no telling."""
        ...

    def release(self) -> None:
        """Give it back."""
        ...

    async def lost(self) -> None:
        """Return when it is no longer ours though it was not given back."""
        ...


class Claim:
    """That this server is the only one of its database."""

    def __init__(self, hold: _Hold, place: str) -> None:
        self._hold = hold
        self._place = place
        self.failure: JournalError | None = None
        """Why ``guard`` cancelled."""

    async def guard(self, scope: trio.CancelScope) -> None:
        """Renew the claim when it is lost; cancel ``scope`` if meanwhile another server has made it."""
        while True:
            await self._hold.lost()
            _log.warning("claim_lost", database=self._place)
            holder = await self._take_again()
            if holder is not None:
                self.failure = _in_use(self._place, holder)
                scope.cancel()
                return
            _log.warning("claim_renewed", database=self._place)

    async def _take_again(self) -> str | None:
        while True:
            with suppress(JournalError):  # the database is not there; nobody else can claim it either
                return await trio.to_thread.run_sync(self._hold.take)
            await trio.sleep(RETRY_SECONDS)


@asynccontextmanager
async def claim_database(url: str) -> AsyncIterator[Claim]:
    """Hold the claim on a database; somebody has to run its ``guard``.

    Raises JournalError ``database_in_use``, ``bad_url``, ``driver_missing`` or ``cannot_open``.
    """
    parsed = database.parse_url(url)
    place = database.shown(parsed)
    hold: _Hold = _FileLock(parsed) if parsed.get_backend_name() == "sqlite" else _SessionLock(parsed)
    deadline = trio.current_time() + PATIENCE_SECONDS
    while (holder := await trio.to_thread.run_sync(hold.take)) is not None:
        if trio.current_time() >= deadline:
            raise _in_use(place, holder)
        await trio.sleep(RETRY_SECONDS)
    try:
        yield Claim(hold, place)
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(hold.release)


class _FileLock:
    """A lock on ``DATABASE.lock``; ``DATABASE.server`` tells whose it is."""

    def __init__(self, url: sa.URL) -> None:
        self._place = database.shown(url)
        # Whatever way leads to the file, the lock lies beside the file itself.
        self._path = Path(os.path.realpath(str(url.database)))
        self._lock = filelock.FileLock(f"{self._path}.lock", thread_local=False)
        self._label = Path(f"{self._path}.server")
        self._locked: tuple[int, int] | None = None
        """Which file the lock is on."""

    def take(self) -> str | None:
        """See ``_Hold``."""
        try:
            if self._locked is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            else:  # lost: a folder that was moved away is not made anew, which would be in the way of its return
                self._path.parent.stat()
            self._lock.acquire(timeout=0)
        except filelock.Timeout:
            return self._holder()
        except OSError as error:
            raise database.cannot_open(self._place, error) from error
        self._locked = self._find()
        with suppress(OSError):  # it only makes a refusal more helpful
            self._label.write_text(f"{_OURSELVES}\n", encoding="utf-8")
        return None

    def release(self) -> None:
        """See ``_Hold``. The lock's file stays: to remove it could remove another's lock."""
        if self._lock.is_locked:  # else the label is another's
            with suppress(OSError):
                self._label.unlink(missing_ok=True)
            self._lock.release()

    async def lost(self) -> None:
        """The system takes no lock away, but a lock on a file that was deleted or replaced keeps nobody out."""
        while True:
            await trio.sleep(LOOK_SECONDS)
            if await trio.to_thread.run_sync(self._find) != self._locked:
                self._lock.release()
                return

    def _find(self) -> tuple[int, int] | None:
        """Which file has the lock's name now; None if there is none."""
        try:
            found = os.stat(self._lock.lock_file)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _holder(self) -> str:
        with suppress(OSError, UnicodeError):
            return self._label.read_text(encoding="utf-8").strip()[:200] or "unknown"
        return "unknown"


class _SessionLock:
    """An advisory lock of PostgreSQL's, one for each schema."""

    def __init__(self, url: sa.URL) -> None:
        self._place = database.shown(url)
        self._engine = database.engine(url, "rw")
        self._connection: sa.Connection | None = None

    def take(self) -> str | None:
        """See ``_Hold``."""
        try:
            with ExitStack() as stack:
                connection = stack.enter_context(self._engine.connect())
                schema = connection.execute(sa.text("SELECT current_schema()")).scalar_one()
                key = int.from_bytes(sha256(f"triarena {schema}".encode()).digest()[:8], "big", signed=True)
                if not connection.execute(sa.text("SELECT pg_try_advisory_lock(:key)"), {"key": key}).scalar_one():
                    return self._holder(connection, key)
                for name, value in _SESSION_SETTINGS.items():
                    with suppress(exc.DBAPIError):  # an older PostgreSQL lacks one
                        connection.execute(
                            sa.text("SELECT set_config(:name, :value, false)"), {"name": name, "value": value}
                        )
                stack.pop_all()  # the session is the claim
        except exc.SQLAlchemyError as error:
            raise database.cannot_open(self._place, error) from error
        self._connection = connection
        return None

    def release(self) -> None:
        """See ``_Hold``. The end of the session frees the lock."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(exc.SQLAlchemyError):
                connection.invalidate()
                connection.close()

    async def lost(self) -> None:
        """A session at rest hears nothing from PostgreSQL but its end."""
        while self._connection is not None:
            driver = self._connection.connection.driver_connection
            assert driver is not None
            await trio.lowlevel.wait_readable(driver.fileno())
            if not await trio.to_thread.run_sync(self._lives):
                self.release()

    def _lives(self) -> bool:
        assert self._connection is not None
        try:
            self._connection.exec_driver_sql("SELECT 1")
        except exc.SQLAlchemyError:
            return False
        return True

    @staticmethod
    def _holder(connection: sa.Connection, key: int) -> str:
        row = connection.execute(_HOLDER, {"key": key}).first()
        if row is None:
            return "unknown"
        name = str(row.application_name or "unknown").removeprefix("triarena, ")
        return f"{name}, connected from {row.address}" if row.address else name


def _in_use(place: str, holder: str) -> JournalError:
    who = "" if holder == "unknown" else f" ({holder})"
    return JournalError(
        "database_in_use",
        f"Another server{who} uses the database {place}, and each server needs one of its own; "
        "stop that server, or name another database or data folder.",
    )
