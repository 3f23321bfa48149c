"""Where a server under test keeps its journal: beside its data, or in a schema of its own of a PostgreSQL database."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa


class Unreachable(Exception):
    """The database can't be used; ``str(error)`` is a sentence."""


@contextmanager
def own_database(url: str | None) -> Iterator[str | None]:
    """None stays None: SQLite in the data folder. Of a PostgreSQL URL a new empty schema is used, and dropped.

    Raises Unreachable.
    """
    if url is None:
        yield None
        return
    name = f"fleet_{secrets.token_hex(8)}"
    try:
        address = sa.make_url(url).set(drivername="postgresql+psycopg")
        engine = sa.create_engine(address, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
        with engine.connect() as connection:
            connection.exec_driver_sql(f"CREATE SCHEMA {name}")
    except (sa.exc.SQLAlchemyError, ImportError) as error:
        why = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        raise Unreachable(f"the database cannot be used: {why}; give a PostgreSQL URL that answers") from None
    query = {"options": f"-csearch_path={name}", "application_name": name}
    try:
        yield address.update_query_dict(query).render_as_string(hide_password=False)
    finally:
        with engine.connect() as connection:
            connection.exec_driver_sql(f"DROP SCHEMA {name} CASCADE")
