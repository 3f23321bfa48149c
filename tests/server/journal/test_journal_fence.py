"""Who lost its claim unnoticed can write nothing more: the fence around the database, on both kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import sqlalchemy as sa
import trio

from triarena.server.journal import JournalError, MatchOpened, PlyPlayed, Record, list_matches, open_journal, read_match
from triarena.server.journal.store import Store

Opened = Callable[..., MatchOpened]
Ply = Callable[..., PlyPlayed]


def codes(verdicts: Sequence[JournalError | None]) -> list[str | None]:
    return [None if verdict is None else verdict.code for verdict in verdicts]


@pytest.fixture
def stopped(url: str) -> Store:
    """The store of a server that will be replaced while it is stopped."""
    store = Store(url, pause=lambda seconds: None)
    store.open()
    return store


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("many", [False, True])
def test_who_was_replaced_writes_nothing_more(
    url: str, stopped: Store, opened: Opened, ply: Ply, many: bool, again: bool
) -> None:
    records: list[Record] = [opened(), ply(0)]
    assert codes(stopped.save(records)) == [None, None]
    newcomer = Store(url)
    newcomer.open()
    attempts: list[Record] = [ply(1), ply(2)] if many else [ply(1)]
    for _ in range(2):
        verdicts = stopped.save(attempts, again=range(len(attempts)) if again else ())
        assert codes(verdicts) == ["database_in_use"] * len(attempts)
    assert codes(newcomer.save([ply(1)])) == [None]
    newcomer.close()
    assert [played.ply for played in read_match(url, "m1").plies] == [0, 1]
    assert "Another server has opened the database" in str(verdicts[0])


def test_who_was_replaced_for_a_while_finds_out_afterwards(url: str, stopped: Store, opened: Opened) -> None:
    stopped.close()  # as if its connection had been lost
    newcomer = Store(url)
    newcomer.open()
    newcomer.close()
    assert codes(stopped.save([opened()])) == ["database_in_use"]
    assert list_matches(url) == []


def test_a_lost_connection_alone_replaces_nobody(url: str, stopped: Store, opened: Opened, ply: Ply) -> None:
    for number in range(3):
        record: Record = opened() if number == 0 else ply(number - 1)
        assert codes(stopped.save([record])) == [None]
        stopped.close()


def test_a_session_of_our_own_that_hangs_is_ended(postgresql_url: str, opened: Opened) -> None:
    store = Store(postgresql_url, pause=lambda seconds: None)
    store.open()
    hanging, store._open_connection = store._open_connection, None  # PostgreSQL has not noticed that it is lost
    assert hanging is not None
    assert codes(store.save([opened()])) == [None]
    with pytest.raises(sa.exc.DBAPIError):
        hanging.exec_driver_sql("SELECT 1")
    store.close()


def test_a_database_that_was_put_back_to_an_earlier_state_is_not_written_to(url: str, opened: Opened) -> None:
    store = Store(url)
    store.open()
    assert codes(store.save([opened()])) == [None]
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql("DELETE FROM fence")
    store.close()
    assert codes(store.save([opened("m2")])) == ["database_in_use"]


async def test_a_server_that_was_replaced_stops_and_says_why(url: str, opened: Opened, ply: Ply) -> None:
    async with open_journal(url) as journal:
        await journal.write(opened())
        async with open_journal(url) as newcomer:
            with pytest.raises(JournalError) as refused:
                await journal.write(ply(0))
            with trio.fail_after(5):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(journal.guard, nursery.cancel_scope)
                    await trio.sleep_forever()
            await newcomer.write(ply(0))
            assert newcomer.replaced is None
        assert refused.value.code == "database_in_use"
        assert journal.replaced is not None
        assert not journal.healthy
