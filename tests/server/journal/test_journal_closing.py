"""The end of the journal: what is pending is saved, however often that takes; or it is said that it could not be."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import trio
import trio.testing
from sqlalchemy import event

from triarena.server.journal import MatchOpened, PlyPlayed, Record, database, open_journal, read_match, store, writer
from triarena.server.journal.records import JournalError
from triarena.server.journal.store import Store, Verdict

Opened = Callable[..., MatchOpened]
Ply = Callable[..., PlyPlayed]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Everything takes moments; no thread outlives its test."""
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.01)
    monkeypatch.setattr(store, "RETRY_SECONDS", (0.01,))
    monkeypatch.setattr(writer, "CLOSING_PAUSE", 0.01)
    monkeypatch.setattr(writer, "MOMENT", 0.02)
    yield
    for thread in threading.enumerate():
        if thread.name == "triarena-journal":
            thread.join(timeout=30)
            assert not thread.is_alive()


class Attempts:
    """Counts the attempts to save, makes an error of each, and does something at one of a given number. The first waits
    for the journal to close.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: str | None = None) -> None:
        self.made = 0
        self.at: tuple[int, Callable[[], object]] = (-1, lambda: None)
        self.error = error
        self.closing = threading.Event()
        save, close = Store.save, writer.Journal._close

        async def closing(journal: writer.Journal) -> None:
            journal._closed = True
            self.closing.set()
            await close(journal)

        def counted(target: Store, records: Sequence[Record], again: Collection[int] = ()) -> list[Verdict]:
            assert self.closing.wait(timeout=30)
            self.made += 1
            if self.made == self.at[0]:
                self.at[1]()
            if self.error is not None:
                return [
                    JournalError(self.error, "so it is, the server tries again with the next record.", "so it is")
                ] * len(records)
            return save(target, records, again)

        monkeypatch.setattr(Store, "save", counted)
        monkeypatch.setattr(writer.Journal, "_close", closing)


@pytest.fixture
def locked(sqlite_url: str, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Another process's write lock on the journal; ``rollback()`` releases it."""
    first = Store(sqlite_url)
    first.open()
    first.close()
    with sqlite3.connect(tmp_path / "journal.sqlite3", isolation_level=None, check_same_thread=False) as other:
        yield other
    other.close()


async def write_and_leave(url: str, lock: sqlite3.Connection | None, *records: Record) -> writer.Journal:
    """Records whose writers are gone before they were saved, and the journal that was closed then."""
    async with open_journal(url) as journal:
        if lock is not None:
            lock.execute("BEGIN IMMEDIATE")
        async with trio.open_nursery() as nursery:
            for record in records:
                nursery.start_soon(journal.write, record)
                await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
    return journal


async def test_a_lock_that_outlasts_many_attempts_is_waited_for_while_the_journal_closes(
    sqlite_url: str, opened: Opened, ply: Ply, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = Attempts(monkeypatch)
    attempts.at = (4, lambda: locked.execute("ROLLBACK"))
    journal = await write_and_leave(sqlite_url, locked, opened(), ply(0))
    assert journal.unflushed is None
    assert attempts.made >= 4
    assert read_match(sqlite_url, "m1").plies == (ply(0),)


async def test_a_lock_that_stays_is_told_when_the_wait_is_over(
    sqlite_url: str, opened: Opened, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "CLOSE_SECONDS", 0.5)
    attempts = Attempts(monkeypatch)
    journal = await write_and_leave(sqlite_url, locked, opened())
    assert journal.unflushed is not None
    assert journal.unflushed.code == "journal_not_flushed"
    assert "without them (database is locked); " in journal.unflushed.message
    assert journal.unflushed.message.endswith(
        "See what locks the database, or keeps it from answering, before you start the server again."
    )
    assert "next record" not in journal.unflushed.message
    assert attempts.made > 2


@pytest.mark.parametrize("passes", [True, False])
async def test_what_fails_at_once_is_tried_until_the_wait_is_over(
    sqlite_url: str, opened: Opened, passes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "CLOSE_SECONDS", 30.0 if passes else 0.3)
    attempts = Attempts(monkeypatch, "write_failed")
    if passes:
        attempts.at = (5, lambda: setattr(attempts, "error", None))
    journal = await write_and_leave(sqlite_url, None, opened())
    assert (journal.unflushed is None) is passes
    assert attempts.made >= 5
    if passes:
        assert read_match(sqlite_url, "m1").opened == opened()


async def test_a_full_disk_at_the_end_is_told(
    sqlite_url: str, opened: Opened, ply: Ply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "CLOSE_SECONDS", 2.0)

    def fill(connection: Any, _record: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")

    async with open_journal(sqlite_url) as journal:
        await journal.write(opened())
    Attempts(monkeypatch)
    event.listen(sa.Engine, "connect", fill)
    try:
        journal = await write_and_leave(sqlite_url, None, *map(ply, range(100)))
    finally:
        event.remove(sa.Engine, "connect", fill)
    assert journal.unflushed is not None
    assert "without them (database or disk is full); " in journal.unflushed.message
    assert journal.unflushed.message.endswith("Make room there before you start the server again.")
    assert journal.unflushed.message.count("journal.sqlite3") == 1


@pytest.mark.parametrize("code", ["journal_failed", "database_in_use"])
async def test_what_no_waiting_helps_against_is_told_at_once(
    sqlite_url: str, opened: Opened, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = Attempts(monkeypatch, code)
    journal = await write_and_leave(sqlite_url, None, opened())
    assert (journal.replaced or journal.unflushed) is not None
    assert attempts.made == 1


async def test_a_database_that_is_still_lost_at_the_end_is_told_though_nothing_is_pending(
    sqlite_url: str, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    Attempts(monkeypatch, "write_failed").closing.set()
    async with open_journal(sqlite_url) as journal:
        with pytest.raises(JournalError):
            await journal.write(opened())
    assert journal.unflushed is not None
    assert journal.unflushed.code == "journal_not_flushed"


async def test_a_cancellation_ends_the_wait_and_it_is_said_what_was_lost(
    sqlite_url: str, opened: Opened, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "CLOSE_SECONDS", 600.0)
    attempts = Attempts(monkeypatch)
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            token = trio.lowlevel.current_trio_token()
            attempts.at = (3, lambda: token.run_sync_soon(nursery.cancel_scope.cancel))

            async with open_journal(sqlite_url) as journal:
                locked.execute("BEGIN IMMEDIATE")
                async with trio.open_nursery() as writing:
                    writing.start_soon(journal.write, opened())
                    await trio.testing.wait_all_tasks_blocked()
                    writing.cancel_scope.cancel()
    assert journal.unflushed is not None
    assert journal.unflushed.code == "journal_not_flushed"


async def test_a_journal_that_is_cancelled_first_saves_what_is_pending_all_the_same(
    sqlite_url: str, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MOMENT", 20.0)
    with trio.CancelScope() as scope:
        async with open_journal(sqlite_url) as journal, trio.open_nursery() as nursery:
            nursery.start_soon(journal.write, opened())
            await trio.testing.wait_all_tasks_blocked()
            scope.cancel()
    assert journal.unflushed is None
    assert read_match(sqlite_url, "m1").opened == opened()


async def test_what_could_not_be_saved_before_is_saved_at_the_end(
    sqlite_url: str, opened: Opened, ply: Ply, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_journal(sqlite_url) as journal:
        await journal.write(opened())
        locked.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalError):
            await journal.write(ply(0))
        attempts = Attempts(monkeypatch)
        attempts.at = (3, lambda: locked.execute("ROLLBACK"))
        journal.leave(ply(0))
    assert journal.unflushed is None
    assert read_match(sqlite_url, "m1").plies == (ply(0),)


async def test_what_was_saved_although_it_seemed_in_vain_is_left_without_harm(
    sqlite_url: str, opened: Opened, ply: Ply
) -> None:
    async with open_journal(sqlite_url) as journal:
        await journal.write(opened())
        await journal.write(ply(0))
        journal.leave(ply(0))
        journal.leave(ply(0))
    assert journal.unflushed is None
    assert read_match(sqlite_url, "m1").plies == (ply(0),)
