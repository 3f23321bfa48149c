"""The file of a tournament's store: its tables, its version, how it is made, opened and checked.

SQLite in WAL mode: readers don't hinder the writer, nor it them. ``application_id`` says that a file is one of ours,
``user_version`` which version of the tables it has.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from .records import StoreError

STORE_NAME: Final = "tournament.sqlite"
VERSION: Final = 1
APPLICATION_ID: Final = 0x54724174
"""``TrAt`` in ASCII."""
BUSY_SECONDS: Final = 10.0
"""How long somebody else's transaction is waited for."""
CACHE_KB: Final = 256
"""What a connection keeps of the file; SQLite would keep 2 MB, and the system keeps all of it anyway."""

TABLES: Final = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
CREATE TABLE tournament (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    file_text TEXT NOT NULL,
    file_folder TEXT NOT NULL,
    created_at TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'interrupted', 'finished', 'cancelled')),
    why TEXT NOT NULL
) STRICT;
CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    seed INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'finished', 'stopped', 'cancelled')),
    why TEXT NOT NULL,
    seconds REAL NOT NULL
) STRICT;
CREATE TABLE players (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, token TEXT) STRICT;
CREATE TABLE attempts (
    event TEXT NOT NULL REFERENCES events (slug),
    fixture TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 1),
    started_at TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'played', 'failed')),
    room TEXT NOT NULL,
    match TEXT NOT NULL,
    why TEXT NOT NULL,
    ended_at TEXT CHECK ((ended_at IS NULL) = (state = 'running')),
    seconds REAL,
    overhead_ms REAL,
    red_ms REAL,
    blue_ms REAL,
    folder TEXT NOT NULL,
    PRIMARY KEY (event, fixture, number)
) STRICT;
CREATE UNIQUE INDEX one_running_attempt ON attempts (event, fixture) WHERE state = 'running';
CREATE TABLE results (
    event TEXT NOT NULL REFERENCES events (slug),
    fixture TEXT NOT NULL,
    round INTEGER NOT NULL,
    at_table INTEGER NOT NULL,
    game INTEGER NOT NULL,
    red TEXT NOT NULL REFERENCES players (name),
    blue TEXT NOT NULL REFERENCES players (name),
    seed INTEGER NOT NULL,
    pair TEXT NOT NULL,
    winner TEXT CHECK (winner IN ('red', 'blue')),
    reason TEXT NOT NULL,
    offenders TEXT NOT NULL CHECK (offenders IN ('', 'red', 'blue', 'red,blue', 'blue,red')),
    red_score REAL NOT NULL,
    blue_score REAL NOT NULL,
    plies INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    match TEXT NOT NULL,
    message TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT NOT NULL,
    PRIMARY KEY (event, fixture),
    FOREIGN KEY (event, fixture, attempt) REFERENCES attempts (event, fixture, number)
) STRICT;
CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    event TEXT NOT NULL,
    player TEXT NOT NULL
) STRICT;
"""


OPTIONS: Final = "CREATE TABLE IF NOT EXISTS options (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT"
"""Made when a store is opened: those of earlier versions have none."""


def make(path: Path, fill: Iterator[tuple[str, tuple[object, ...]]]) -> None:
    """Make a store at ``path`` by the statements of ``fill``: entirely, or not at all, whenever the process dies.

    Nobody but the owner may read it, since it holds tokens. Raises StoreError ``store_exists`` or ``cannot_open``.
    """
    if path.exists():
        raise StoreError(
            "store_exists",
            f"{path.parent} already holds a tournament; go on with it by resuming it, or name another folder.",
        )
    unfinished = path.with_name(f"{path.name}.new")
    with explained(path):
        unfinished.unlink(missing_ok=True)
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        connection = sqlite3.connect(unfinished, isolation_level=None)
        try:
            connection.executescript(f"BEGIN;\n{TABLES}")
            for statement, values in fill:
                connection.execute(statement, values)
            connection.execute("COMMIT")
        finally:
            connection.close()
        unfinished.replace(path)


def identity(path: Path) -> tuple[int, int]:
    """What tells a file from any other that lies at its path later: its device and its number. Raises OSError."""
    about = path.stat()
    return about.st_dev, about.st_ino


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Open a store. The connection may be used by any thread, one at a time; it begins no transactions by itself.

    Raises StoreError ``no_store``, ``not_a_store``, ``other_version``, ``damaged`` or ``cannot_open``.
    """
    if not path.is_file():
        raise StoreError(
            "no_store",
            f"There is no tournament in {path.parent}: {path.name} is missing; "
            "name the folder that `triarena tournament run` made.",
        )
    with explained(path):
        connection = _read_only(path) if read_only else _open(path, "rw")
    try:
        with explained(path):
            _check(connection, path)
            connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
            if not read_only:
                _prepare_writing(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raise what SQLite or the system say of the file as a StoreError's sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StoreError("store_failed", f"{path} can't be read or written: {error}.") from error
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            raise _foreign(path) from error
        raise StoreError(
            "damaged", f"{path} is damaged ({error}); restore it from a copy, or start the tournament anew."
        ) from error
    except OSError as error:
        raise StoreError("cannot_open", f"{path} can't be opened: {error.strerror or error}.") from error


def _open(path: Path, how: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{how if '=' in how else f'mode={how}'}"
    return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def _read_only(path: Path) -> sqlite3.Connection:
    connection = _open(path, "ro")
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if os.access(path.parent, os.W_OK) or path.with_name(f"{path.name}-wal").exists():
            raise
        # Even readers of WAL want to write beside the file. In a folder where nobody can, nobody writes.
        return _open(path, "immutable=1")
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise _foreign(path)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        raise StoreError(
            "other_version",
            f"{path} has version {version} of the tournament's tables, this program knows version {VERSION}; "
            "use the version of TriArena that made it.",
        )


def _prepare_writing(connection: sqlite3.Connection, path: Path) -> None:
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise sqlite3.DatabaseError(found)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(OPTIONS)
    with suppress(OSError):  # not ours to change: whoever owns it decides
        path.chmod(0o600)


def _foreign(path: Path) -> StoreError:
    return StoreError("not_a_store", f"{path} is no tournament's store; name the folder that a tournament run made.")
