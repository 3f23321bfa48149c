"""The version of the tables: read by everybody, raised to the program's own by the writer only.

The version is alembic's, a four-digit number that grows by one with every script in ``migrations/versions``.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import exc

from triarena.server.journal.records import JournalError

REVISION = "0004"
"""The version that this program reads and writes."""
_MIGRATION_LOCK = 0x7472_6961_7265_6E61
"""Any number of ours: PostgreSQL's advisory lock that lets one server migrate at a time."""


def revision(connection: sa.Connection) -> str | None:
    """The version of the tables in a database, None if it holds no journal."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one_or_none()


def require_current(connection: sa.Connection, place: str) -> None:
    """Raises JournalError ``no_database``, ``database_too_old`` or ``database_too_new`` unless readable as it is."""
    found = revision(connection)
    if found is None:
        message = f"The database {place} holds no journal yet; start the server with it once, or name another."
        raise JournalError("no_database", message)
    _refuse_newer(found, place)
    if found != REVISION:
        raise JournalError(
            "database_too_old",
            f"The journal in {place} has version {found}, this program reads {REVISION}; "
            "start the server with it once, which brings it up to date.",
        )


def migrate(connection: sa.Connection, place: str, target: str = REVISION) -> None:
    """Brings the tables up to ``target`` in one transaction. Raises JournalError ``database_too_new``."""
    sqlite = connection.dialect.name == "sqlite"
    if sqlite:
        # WAL lets others read while the server writes. It is a property of the file, outside of transactions.
        connection.exec_driver_sql("PRAGMA journal_mode = WAL")
    # SQLite's lock is taken at once even if nothing is to do: a read-only database is refused here, not mid-match.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if sqlite else "BEGIN")
    try:
        if not sqlite:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
        found = revision(connection)
        if found is not None:
            _refuse_newer(found, place)
        if found != target:
            _upgrade(connection, target)
        connection.exec_driver_sql("COMMIT")
    except BaseException:
        with suppress(exc.DBAPIError):  # SQLite has rolled back by itself, e.g. where the disk is full
            connection.exec_driver_sql("ROLLBACK")
        raise


def _refuse_newer(found: str, place: str) -> None:
    if found > REVISION:
        raise JournalError(
            "database_too_new",
            f"The journal in {place} has version {found}, but this program knows versions up to {REVISION}; "
            "update triarena, or use another database.",
        )


def _upgrade(connection: sa.Connection, target: str) -> None:
    # Alembic takes a noticeable time to import and is needed only when something is to migrate.
    from alembic import command
    from alembic.config import Config

    config = Config()
    scripts = Path(__file__).with_name("migrations")
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, target)
