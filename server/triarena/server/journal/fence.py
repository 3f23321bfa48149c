"""That a server which lost its claim can write nothing more, even if it has not noticed yet.

The claim (see ``claim``) says who may open the database; but a process that was stopped for a while wakes up and goes
on in the belief that it still has it. So each server that opens the database raises a number in the table ``fence``,
and who finds another number than its own there has been replaced.

SQLite: looked at within each transaction. PostgreSQL: that would cost round trips, so a writing session holds an
advisory lock, without which no number is raised; it is enough to look when a session begins. Whoever opens the
database ends the session of its predecessor.
"""

from __future__ import annotations

import sqlalchemy as sa

from triarena.server.journal.records import JournalError
from triarena.server.journal.tables import fence

_NUMBER = sa.select(fence.c.number)
_RAISE = sa.update(fence).values(number=fence.c.number + 1)
_KEY = "hashtextextended('triarena writes to ' || current_schema(), 0)"
_TRY_LOCK = sa.text(f"SELECT pg_try_advisory_lock({_KEY})")
_LOCK = sa.text(f"SELECT pg_advisory_lock({_KEY})")
_HOLDER = sa.text(
    "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    f" AND (classid::bigint << 32) + objid::bigint = {_KEY}"
)
_END = sa.text("SELECT pg_terminate_backend(:pid)")
_OURSELVES = sa.text("SELECT pg_backend_pid()")


class Fence:
    """Of one database, as one server sees it. ``place`` is the database as a message may show it."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._number: int | None = None
        self._session: int | None = None
        """PostgreSQL's process that wrote for us last."""

    def take(self, connection: sa.Connection) -> None:
        """Replace whoever wrote before; from now on we write, over this connection. Raises DBAPIError."""
        if connection.dialect.name == "postgresql":
            self._lock(connection, replacing=True)
        connection.exec_driver_sql("BEGIN" if connection.dialect.name == "postgresql" else "BEGIN IMMEDIATE")
        connection.execute(_RAISE)
        self._number = connection.execute(_NUMBER).scalar_one()
        connection.exec_driver_sql("COMMIT")

    def enter(self, connection: sa.Connection) -> None:
        """Go on writing over a new connection. Raises JournalError ``database_in_use``, or DBAPIError."""
        if self._number is not None and connection.dialect.name == "postgresql":
            self._lock(connection, replacing=False)
        self._look(connection)

    def check(self, connection: sa.Connection) -> None:
        """Within a transaction: whether we may still write. Raises JournalError ``database_in_use``."""
        if connection.dialect.name == "sqlite":
            self._look(connection)

    @property
    def number(self) -> int | None:
        """Ours, which the table must hold for us to write; None before we have taken the database."""
        return self._number

    def _look(self, connection: sa.Connection) -> None:
        if self._number is not None and connection.execute(_NUMBER).scalar_one_or_none() != self._number:
            raise JournalError(
                "database_in_use",
                f"Another server has opened the database {self._place} since this one did, which may write nothing "
                "there any more; its matches go on at the other one. Each server needs a database of its own.",
            )

    def _lock(self, connection: sa.Connection, *, replacing: bool) -> None:
        """Make the writers' lock this session's, if need be at the cost of a predecessor or of our own lost session."""
        if not connection.execute(_TRY_LOCK).scalar_one():
            self._look(connection)
            for pid in connection.execute(_HOLDER).scalars().all():
                if replacing or pid == self._session:
                    connection.execute(_END, {"pid": pid})
            connection.execute(_LOCK)  # waits as long as for any other lock
        self._session = connection.execute(_OURSELVES).scalar_one()
