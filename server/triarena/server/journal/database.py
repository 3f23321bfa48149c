"""Database URLs, the engines behind them, and what a driver's error means in a sentence.

``sqlite:///PATH`` (percent signs encoded, as in every URL) or ``postgresql://USER:PASSWORD@HOST/NAME`` (also written
``postgresql+psycopg://``). Every connection is in autocommit mode: a lone statement is its own transaction, which
saves two round trips; a batch says ``BEGIN`` itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import sqlalchemy as sa
from sqlalchemy import event, exc

from triarena.server.journal.records import JournalError

BUSY_SECONDS = 5
"""How long a statement waits for another process's lock before it fails."""
_POSTGRESQL_ARGUMENTS = {
    "connect_timeout": "5",
    "application_name": "triarena",
    # A database behind a dead network is noticed after seconds, not after hours.
    "keepalives_idle": "10",
    "keepalives_interval": "3",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
}
_PASSING_SQLITE = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_IOERR")
_PASSING_SQLSTATE = ("08", "40", "57", "55P03")
"""Lost connection, serialization failure, operator's intervention (restart), lock not available."""


def parse_url(url: str) -> sa.URL:
    """The URL of a supported database. Raises JournalError ``bad_url``."""
    hint = "write sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME"
    if url.startswith("sqlite:"):
        # By ourselves: versions of SQLAlchemy differ in whether they decode percent signs in a path.
        path = unquote(url.removeprefix("sqlite:///"))
        if path in {"sqlite:", "sqlite://", "", ":memory:"}:
            raise JournalError("bad_url", "A journal in memory keeps nothing; name a file: sqlite:///PATH.")
        if not url.startswith("sqlite:///") or "?" in url:
            raise JournalError("bad_url", f"The SQLite URL {url} is more than sqlite:/// and a path; {hint}.")
        return sa.URL.create("sqlite", database=path)
    try:
        parsed = sa.make_url(url)
    except (exc.ArgumentError, ValueError):
        # The text itself may hold a password, so it is not repeated.
        raise JournalError("bad_url", f"The database setting is not a URL; {hint}.") from None
    if parsed.drivername not in {"postgres", "postgresql", "postgresql+psycopg"}:
        raise JournalError("bad_url", f"The journal cannot be kept in a {parsed.drivername!r} database; {hint}.")
    return parsed.set(drivername="postgresql+psycopg")


def shown(url: sa.URL) -> str:
    """The URL as a message may show it: a file's path, or the URL without its password."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    return url.set(query={}).render_as_string(hide_password=True)  # a query may hold a password too


def engine(url: sa.URL, sqlite_mode: str) -> sa.Engine:
    """An engine without a pool. ``sqlite_mode``: ``rwc`` creates the file, ``rw`` and ``ro`` want it to exist.

    Raises JournalError ``driver_missing``. Connects to nothing yet.
    """
    arguments: dict[str, Any]
    if url.get_backend_name() == "sqlite":
        path = Path(str(url.database)).absolute()
        url = sa.URL.create("sqlite+pysqlite", database=path.as_uri(), query={"uri": "true", "mode": sqlite_mode})
        arguments = {"timeout": BUSY_SECONDS, "check_same_thread": False}  # one at a time, says the store
    else:
        arguments = {key: value for key, value in _POSTGRESQL_ARGUMENTS.items() if key not in url.query}
    try:
        made = sa.create_engine(
            url,
            poolclass=sa.NullPool,
            isolation_level="AUTOCOMMIT",
            connect_args=arguments,
            json_serializer=_to_json,
        )
    except ImportError:
        message = "A PostgreSQL database needs the driver psycopg; install the extra 'postgresql' (see the README)."
        raise JournalError("driver_missing", message) from None
    event.listen(made, "connect", _greet_sqlite if made.dialect.name == "sqlite" else _greet_postgresql)
    return made


_JSON: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _to_json(value: object) -> str:
    # Strict: NaN is no JSON, and PostgreSQL would refuse it.
    return _JSON.encode(value)


def _greet_sqlite(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")


def _greet_postgresql(connection: Any, _record: object) -> None:
    connection.execute(f"SET lock_timeout = '{BUSY_SECONDS}s'")


def is_passing(error: exc.DBAPIError) -> bool:
    """Whether trying again on a new connection may help: a lock, a restart, a lost connection; not a full disk."""
    if error.connection_invalidated:
        return True
    if name := getattr(error.orig, "sqlite_errorname", None):
        return str(name).startswith(_PASSING_SQLITE)
    sqlstate = getattr(error.orig, "sqlstate", None)
    if sqlstate is None:
        return isinstance(error, exc.OperationalError)  # psycopg could not connect, or the server hung up
    return str(sqlstate).startswith(_PASSING_SQLSTATE)


def is_locked(error: BaseException) -> bool:
    """Whether somebody else's lock on an SQLite database was in the way."""
    original = error.orig if isinstance(error, exc.DBAPIError) else error
    return str(getattr(original, "sqlite_errorname", "")).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def cannot_open(place: str, error: BaseException) -> JournalError:
    """That a server can't use a database; ``error`` is the driver's, the file system's or alembic's."""
    advice = "check the database setting and that the server may write there"
    if is_locked(error):
        advice = "another program works with the file: end it, and start the server again"
    return JournalError(
        "cannot_open", f"The journal in {place} cannot be opened for writing: {cause(error)}; {advice}."
    )


def cause(error: BaseException) -> str:
    """What a driver says about an error, on one line."""
    original = error.orig if isinstance(error, exc.StatementError) and error.orig is not None else error
    lines = [line.strip() for line in str(original).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(original).__name__
