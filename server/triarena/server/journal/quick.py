"""The usual case, plies for SQLite, through the driver itself.

What SQLAlchemy does to execute a statement costs several times what SQLite does to save a ply, and holds the
interpreter's lock meanwhile, for which the event loop waits. The statement and the types' processing are SQLAlchemy's
all the same. What goes wrong here is not explained here:
the store tries it again in the usual way.

Each statement that goes to SQLite gives the interpreter's lock away and waits for it again, behind the event loop. So
the fence is looked at by the statement that inserts, and a lone ply is one statement, which is a transaction of its
own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias, cast

import sqlalchemy as sa

from triarena.server.journal import rows
from triarena.server.journal.fence import Fence
from triarena.server.journal.records import PlyPlayed

_Processor: TypeAlias = Callable[[Any], Any]


def in_transaction(connection: sa.Connection) -> bool:
    """Whether SQLite's connection has begun a transaction that has not ended."""
    return bool(cast(Any, connection.connection.dbapi_connection).in_transaction)


class QuickPlies:
    """Inserts plies into an SQLite database."""

    def __init__(self, dialect: sa.Dialect) -> None:
        compiled = rows.INSERT_PLY.compile(dialect=dialect)
        self._statement = f"{compiled} AND ? = (SELECT number FROM fence)"
        self._refused: type[Exception] = dialect.loaded_dbapi.IntegrityError
        self._parameters: list[tuple[str, _Processor | None]] = []
        for name in compiled.positiontup or ():
            kind = compiled.binds[name].type.dialect_impl(dialect)
            self._parameters.append((name, cast(_Processor | None, kind.bind_processor(dialect))))

    def values(self, plies: Sequence[PlyPlayed], fence: Fence) -> list[list[Any]]:
        """What ``insert`` takes. Raises whatever is raised where a value can't be stored."""
        return [[*self._values(ply), fence.number] for ply in plies]

    def insert(self, connection: sa.Connection, values: Sequence[list[Any]]) -> bool:
        """All in one transaction; False, and nothing is saved, if one of them is refused or another server writes.

        Raises other errors, the driver's and Python's; the connection is of no use then.
        """
        if in_transaction(connection):
            raise RuntimeError("a transaction was begun and never ended: what is inserted might be taken back with it")
        cursor = connection.connection.cursor()
        if len(values) == 1:
            with suppress(self._refused):
                cursor.execute(self._statement, values[0])
            return cursor.rowcount == 1
        cursor.execute("BEGIN IMMEDIATE")
        with suppress(self._refused):
            cursor.executemany(self._statement, values)
            if cursor.rowcount == len(values):
                cursor.execute("COMMIT")
                return True
        cursor.execute("ROLLBACK")
        return False

    def _values(self, ply: PlyPlayed) -> list[Any]:
        [(_, values)] = rows.writing(ply)
        return [values[name] if process is None else process(values[name]) for name, process in self._parameters]
