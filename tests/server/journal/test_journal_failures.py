"""What happens when the database fails: told in a sentence, tried again where that can help, never a wrong record."""

import secrets
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import trio
import trio.lowlevel
from sqlalchemy import event, exc
from trio.testing import wait_all_tasks_blocked

from triarena.server.journal import (
    Journal,
    JournalError,
    MatchEnded,
    MatchOpened,
    PlyPlayed,
    Record,
    database,
    open_journal,
    read_match,
)
from triarena.server.journal.quick import QuickPlies
from triarena.server.journal.store import RETRY_SECONDS, Store, Verdict
from triarena.server.journal.writer import AT_ONCE

Opened = Callable[..., MatchOpened]
Ply = Callable[..., PlyPlayed]
Ended = Callable[..., MatchEnded]


@pytest.fixture
def on_connect() -> Iterator[list[str]]:
    """SQL that every new connection executes first: how a test makes a database full or read-only."""
    statements: list[str] = []

    def execute(connection: Any, _record: object) -> None:
        for statement in statements:
            connection.execute(statement)

    event.listen(sa.Engine, "connect", execute)
    yield statements
    event.remove(sa.Engine, "connect", execute)


async def test_a_full_disk_fails_the_write_and_is_got_over(
    sqlite_url: str, opened: Opened, ply: Ply, on_connect: list[str]
) -> None:
    async with open_journal(sqlite_url) as journal:
        await journal.write(opened())
    on_connect.append("PRAGMA max_page_count = 16")
    async with open_journal(sqlite_url) as journal:
        assert journal.healthy
        saved = 0

        async def write_until_it_fails() -> None:
            nonlocal saved
            await trio.lowlevel.checkpoint()
            while True:
                await journal.write(ply(saved))
                saved += 1

        with pytest.raises(JournalError, match=r"journal\.sqlite3.*is full.*make room") as failed:
            await write_until_it_fails()
        assert failed.value.code == "write_failed"
        assert not journal.healthy
        assert journal.failure is not None
        assert journal.failure.code == "write_failed"
        on_connect.clear()
        await journal.write(ply(saved))
        assert journal.healthy
    assert saved > 0
    assert read_match(sqlite_url, "m1").plies == tuple(ply(number) for number in range(saved + 1))


async def test_all_of_a_batch_hear_of_a_full_disk(
    sqlite_url: str, opened: Opened, ply: Ply, on_connect: list[str]
) -> None:
    failed: dict[int, str] = {}

    async def attempt(number: int) -> None:
        await trio.lowlevel.checkpoint()
        try:
            await journal.write(ply(number))
        except JournalError as error:
            failed[number] = error.code

    async with open_journal(sqlite_url) as journal:
        await journal.write(opened())
    on_connect.append("PRAGMA max_page_count = 16")
    async with open_journal(sqlite_url) as journal, trio.open_nursery() as nursery:
        for number in range(1000):
            nursery.start_soon(attempt, number)
    saved = {played.ply for played in read_match(sqlite_url, "m1").plies}
    assert set(failed.values()) == {"write_failed"}
    assert saved.isdisjoint(failed)
    assert saved | set(failed) == set(range(1000))


async def test_a_database_that_became_read_only_fails_the_write(
    sqlite_url: str, opened: Opened, on_connect: list[str]
) -> None:
    async with open_journal(sqlite_url):
        pass
    store = Store(sqlite_url)
    on_connect.append("PRAGMA query_only = ON")
    (verdict,) = store.save([opened()])
    store.close()
    assert verdict is not None
    assert verdict.code == "write_failed"
    assert "readonly" in verdict.message


def test_a_read_only_database_is_refused_at_the_start(sqlite_url: str, on_connect: list[str]) -> None:
    Store(sqlite_url).open()
    on_connect.append("PRAGMA query_only = ON")
    with pytest.raises(JournalError, match=r"cannot be opened for writing.*readonly") as refused:
        Store(sqlite_url).open()
    assert refused.value.code == "cannot_open"


@pytest.mark.parametrize("pages", [2, 10])
def test_a_full_disk_at_the_start_is_named(sqlite_url: str, on_connect: list[str], pages: int) -> None:
    on_connect.append(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(JournalError, match=r"cannot be opened for writing: database or disk is full") as refused:
        Store(sqlite_url).open()
    assert refused.value.code == "cannot_open"
    on_connect.clear()
    Store(sqlite_url).open()


async def test_a_place_that_cannot_be_written_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JournalError, match="cannot be opened for writing") as refused:
        async with open_journal(f"sqlite:///{tmp_path}/file/journal.sqlite3"):
            pass
    assert refused.value.code == "cannot_open"


async def test_a_file_that_is_no_database_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, " * 100)
    with pytest.raises(JournalError, match="not a database") as refused:
        async with open_journal(f"sqlite:///{path}"):
            pass
    assert refused.value.code == "cannot_open"
    assert path.read_text() == "Dear reader, " * 100


async def test_a_postgresql_that_is_not_there_is_refused_at_the_start() -> None:
    with pytest.raises(JournalError, match="cannot be opened") as refused:
        async with open_journal("postgresql://somebody:swordfish@127.0.0.1:1/db"):
            pass
    assert refused.value.code == "cannot_open"
    assert "swordfish" not in refused.value.message


class Pauses:
    """Stands in for ``time.sleep``: notes the pauses, and does something in the pause of a given number."""

    def __init__(self, at: int = -1, action: Callable[[], object] = lambda: None) -> None:
        self.taken: list[float] = []
        self._at = at
        self._action = action

    def __call__(self, seconds: float) -> None:
        if len(self.taken) == self._at:
            self._action()
        self.taken.append(seconds)


@pytest.fixture
def lock(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """Another process's write lock on the journal; ``rollback()`` releases it."""
    monkeypatch.setattr(database, "BUSY_SECONDS", 0)
    Store(sqlite_url).open()
    other = sqlite3.connect(tmp_path / "journal.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()


def test_a_locked_database_is_tried_again_until_it_is_free(
    sqlite_url: str, opened: Opened, ply: Ply, lock: sqlite3.Connection
) -> None:
    pauses = Pauses(at=1, action=lambda: lock.execute("ROLLBACK"))
    store = Store(sqlite_url, pause=pauses)
    assert store.save([opened(), ply(0)]) == [None, None]
    store.close()
    assert pauses.taken == list(RETRY_SECONDS[:2])
    assert read_match(sqlite_url, "m1").plies == (ply(0),)


def test_a_database_that_stays_locked_fails_the_write_after_a_bounded_number_of_attempts(
    sqlite_url: str, opened: Opened, ply: Ply, lock: sqlite3.Connection
) -> None:
    pauses = Pauses()
    store = Store(sqlite_url, pause=pauses)
    verdicts = store.save([opened(), ply(0)])
    store.close()
    assert [verdict and verdict.code for verdict in verdicts] == ["write_failed", "write_failed"]
    assert pauses.taken == list(RETRY_SECONDS)


@pytest.mark.parametrize("fails_after", ["INSERT INTO matches", "INSERT INTO plies", "UPDATE matches", "COMMIT"])
def test_a_connection_that_is_lost_after_the_commit_saves_nothing_twice(
    url: str, opened: Opened, ply: Ply, ended: Ended, fails_after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer of the database got lost: the record is found when it is tried again, and that is no duplicate."""
    lost: list[str] = []
    insert = QuickPlies.insert

    def insert_and_lose(quick: QuickPlies, connection: sa.Connection, values: Sequence[list[Any]]) -> bool:
        done = insert(quick, connection, values)
        if fails_after == "INSERT INTO plies" and not lost:
            lost.append(fails_after)
            raise sqlite3.OperationalError("disk I/O error")
        return done

    monkeypatch.setattr(QuickPlies, "insert", insert_and_lose)

    def lose(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if statement.startswith(fails_after) and not lost:
            lost.append(statement)
            raise exc.OperationalError(statement, None, Exception("connection lost"), connection_invalidated=True)

    store = Store(url, pause=Pauses())
    store.open()
    batches: list[list[Record]] = [[opened(), ply(0)]] if fails_after == "COMMIT" else [[opened()], [ply(0)]]
    batches.append([ended()])
    event.listen(sa.Engine, "after_cursor_execute", lose)
    try:
        verdicts = [store.save(batch) for batch in batches]
    finally:
        event.remove(sa.Engine, "after_cursor_execute", lose)
        store.close()
    assert len(lost) == 1
    assert {verdict for batch in verdicts for verdict in batch} == {None}
    stored = read_match(url, "m1")
    assert (stored.opened, stored.plies, stored.ended) == (opened(), (ply(0),), ended())


def terminate_connections(url: str) -> None:
    """Ends every other connection with the same application name, as a restart of PostgreSQL would."""
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        ended = connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()"
        )
        assert list(ended.scalars()) == [True]


async def test_a_lost_connection_is_replaced_without_anybody_noticing(
    postgresql_url: str, opened: Opened, ply: Ply
) -> None:
    async with open_journal(postgresql_url) as journal:
        await journal.write(opened())
        terminate_connections(postgresql_url)
        await journal.write(ply(0))
        assert journal.healthy
    assert read_match(postgresql_url, "m1").plies == (ply(0),)


def test_a_database_that_is_gone_fails_the_write(postgresql_cluster: sa.URL, opened: Opened) -> None:
    name = f"test_{secrets.token_hex(8)}"
    server = sa.create_engine(postgresql_cluster, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    store = Store(postgresql_cluster.set(database=name).render_as_string(hide_password=False), pause=Pauses())
    with server.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
        store.open()
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    (verdict,) = store.save([opened()])
    assert verdict is not None
    assert verdict.code == "write_failed"
    assert name in verdict.message


async def test_an_unforeseen_error_reaches_the_writer_and_the_thread_goes_on(
    sqlite_url: str, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_journal(sqlite_url) as journal:
        with monkeypatch.context() as patch:
            patch.setattr(Store, "_save_alone", lambda *_arguments, **_more: 1 / 0)
            with pytest.raises(JournalError, match="ZeroDivisionError") as failed:
                await journal.write(opened())
        assert failed.value.code == "journal_failed"
        assert not journal.healthy
        await journal.write(opened())
        assert journal.healthy


async def test_the_thread_ends_with_the_journal(sqlite_url: str) -> None:
    async with open_journal(sqlite_url):
        assert "triarena-journal" in {thread.name for thread in threading.enumerate()}
    for thread in threading.enumerate():
        if thread.name == "triarena-journal":
            thread.join(timeout=10)
            assert not thread.is_alive()


@pytest.mark.parametrize("how", ["moved", "deleted"])
async def test_a_file_that_vanishes_while_it_is_open_is_noticed_and_may_come_back(
    sqlite_url: str, opened: Opened, ply: Ply, tmp_path: Path, how: str
) -> None:
    file, elsewhere = tmp_path / "journal.sqlite3", tmp_path / "elsewhere"
    async with open_journal(sqlite_url) as journal:
        await journal.write(opened())
        if how == "moved":
            file.rename(elsewhere)
        else:
            file.unlink()
        for _ in range(2):
            with pytest.raises(JournalError, match=r"moved or deleted|cannot be written") as caught:
                await journal.write(ply(0))
            assert caught.value.code == "write_failed"
        if how == "moved":
            elsewhere.rename(file)
            await journal.write(ply(0))
    if how == "moved":
        assert len(read_match(sqlite_url, opened().match).plies) == 1


@pytest.mark.parametrize("failing", ["the earlier", "the later"])
async def test_the_health_is_that_of_the_latest_batch_however_slowly_all_are_told(
    failing: str, sqlite_url: str, ended: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    save, sizes = Store.save, [1, 10 * AT_ONCE, 5 * AT_ONCE]
    health: list[bool] = []
    all_told = trio.Event()
    reached, go_on = threading.Semaphore(0), threading.Semaphore(0)
    broken = JournalError("write_failed", "the disk is full, the server tries again.", "the disk is full")

    def held(store: Store, records: Sequence[Record], again: Collection[int] = ()) -> list[Verdict]:
        reached.release()
        assert go_on.acquire(timeout=30)
        fails = len(records) == sizes[1 if failing == "the earlier" else 2]
        return [broken] * len(records) if fails else save(store, records, again)

    async def attempt(name: str) -> None:
        with suppress(JournalError):
            await journal.write(ended(name))

    async def together(batch: int) -> None:
        for number in range(sizes[batch]):
            nursery.start_soon(attempt, f"m{batch}.{number}")
        await wait_all_tasks_blocked()

    monkeypatch.setattr(Store, "save", held)
    monkeypatch.setattr(Journal, "_note_health", _noting(health, all_told))
    async with open_journal(sqlite_url) as journal, trio.open_nursery() as nursery:
        for batch in range(3):
            await together(batch)
            if batch == 0:
                assert reached.acquire(timeout=30)
            elif batch == 1:
                go_on.release()
                assert await trio.to_thread.run_sync(lambda: reached.acquire(timeout=30))
        go_on.release()  # and now the loop stands still until the thread is at the last batch
        assert reached.acquire(timeout=30)
        go_on.release()
        await wait_all_tasks_blocked()
        await all_told.wait()
        await wait_all_tasks_blocked()
        assert journal.healthy == (failing == "the earlier")
    assert health == [True, failing != "the earlier", failing == "the earlier"]


def _noting(health: list[bool], all_told: trio.Event) -> Callable[[Journal, Verdict], None]:
    note = Journal._note_health

    def noted(journal: Journal, latest: Verdict) -> None:
        note(journal, latest)
        health.append(journal.healthy)
        if len(health) == 3:
            all_told.set()

    return noted
