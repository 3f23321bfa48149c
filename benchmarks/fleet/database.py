"""Where a server under test keeps its journal: beside its data, or in a schema of its own of a PostgreSQL database."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa


@contextmanager
def own_database(url: str | None) -> Iterator[str | None]:
    """None stays None: SQLite in the data folder. Of a PostgreSQL URL a new empty schema is used, and dropped."""
    if url is None:
        yield None
        return
    address, name = sa.make_url(url), f"fleet_{secrets.token_hex(8)}"
    engine = sa.create_engine(address, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
    query = {"options": f"-csearch_path={name}", "application_name": name}
    try:
        yield address.update_query_dict(query).render_as_string(hide_password=False)
    finally:
        with engine.connect() as connection:
            connection.exec_driver_sql(f"DROP SCHEMA {name} CASCADE")
