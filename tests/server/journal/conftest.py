"""Databases and records for the tests of the journal."""

import os
import secrets
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from triarena.server.journal import MatchEnded, MatchOpened, PlyPlayed
from triarena.server.journal.store import Store

START = datetime(2031, 5, 4, 12, 30, 15, 123456, tzinfo=UTC)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/journal.sqlite3"


@pytest.fixture
def postgresql_cluster() -> sa.URL:
    """The database that TRIARENA_TEST_POSTGRES names."""
    if url := os.environ.get("TRIARENA_TEST_POSTGRES"):
        return sa.make_url(url)
    pytest.skip("TRIARENA_TEST_POSTGRES holds no URL; `.ci/postgres start DIR` starts a PostgreSQL and prints one")


@pytest.fixture
def postgresql_url(postgresql_cluster: sa.URL) -> Iterator[str]:
    """An empty schema of its own in there: made in an instant, unlike a database."""
    name = f"test_{secrets.token_hex(8)}"
    engine = sa.create_engine(postgresql_cluster, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
    query = {"options": f"-csearch_path={name}", "application_name": name}
    yield postgresql_cluster.update_query_dict(query).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """An empty database of each kind."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def opened() -> Callable[..., MatchOpened]:
    """Makes the opening of a match."""

    def make(match: str = "m1", *, minute: int = 0, game: str = "flowerwars", red: str = "Jörg") -> MatchOpened:
        return MatchOpened(
            match=match,
            room="room-1",
            game=game,
            rules_version=1,
            options={"size": 8},
            seed=2**64 - 1,
            time_control={"kind": "fixed", "move_seconds": 2.0},
            red=red,
            blue="Blaise",
            settings={"strikes": 0, "margin_ms": 50},
            at=START + timedelta(minutes=minute),
        )

    return make


@pytest.fixture
def ply() -> Callable[..., PlyPlayed]:
    """Makes one ply of a match."""

    def make(number: int = 0, match: str = "m1") -> PlyPlayed:
        return PlyPlayed(
            match=match,
            ply=number,
            side="red" if number % 2 == 0 else "blue",
            move={"type": "dig", "ditch": [[1, number], [2, number]]},
            text=f"B{number} C{number}",
            used_ms=12.345678901234567,
            at=START + timedelta(seconds=number),
        )

    return make


@pytest.fixture
def ended() -> Callable[..., MatchEnded]:
    """Makes the end of a match."""

    def make(match: str = "m1", winner: str | None = "red") -> MatchEnded:
        return MatchEnded(
            match=match,
            result={"kind": "outcome", "winner": winner, "sides": {"red": {"score": 3}, "blue": {"score": 1}}},
            kind="outcome",
            winner=winner,
            reason="points",
            at=START + timedelta(hours=1),
        )

    return make


@pytest.fixture
def store(sqlite_url: str, opened: Callable[..., MatchOpened]) -> Iterator[Store]:
    """An open one, which knows the match m1."""
    made = Store(sqlite_url)
    made.open()
    made.save([opened()])
    yield made
    made.close()
