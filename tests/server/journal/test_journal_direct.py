"""Plies that the loop saves by itself: only what needs no waiting, and nothing that the thread would not have saved."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import trio

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
from triarena.server.journal.direct import LONG_SECONDS, REST_SECONDS, DirectPlies
from triarena.server.journal.fence import Fence
from triarena.server.journal.quick import QuickPlies
from triarena.server.journal.store import Store

Opened = Callable[..., MatchOpened]
Ply = Callable[..., PlyPlayed]
Ended = Callable[..., MatchEnded]


@pytest.fixture
def by_the_thread(monkeypatch: pytest.MonkeyPatch) -> list[Record]:
    """Everything that the thread is given, in order."""
    given: list[Record] = []
    save = Store.save

    def noted(store: Store, records: Sequence[Record], *arguments: object) -> object:
        given.extend(records)
        return save(store, records, *arguments)  # type: ignore[arg-type]  # handed on as it comes

    monkeypatch.setattr(Store, "save", noted)
    return given


@pytest.fixture
def transactions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of each transaction of the loop, how many plies it holds."""
    sizes: list[int] = []
    save = DirectPlies.save

    def noted(direct: DirectPlies, plies: Sequence[PlyPlayed]) -> bool | None:
        saved = save(direct, plies)
        if saved:
            sizes.append(len(plies))
        return saved

    monkeypatch.setattr(DirectPlies, "save", noted)
    return sizes


async def write_all(journal: Journal, *records: Record) -> None:
    async with trio.open_nursery() as nursery:
        for record in records:
            nursery.start_soon(journal.write, record)


async def test_plies_need_no_thread_and_those_of_one_turn_of_the_loop_share_a_transaction(
    sqlite_url: str, opened: Opened, ply: Ply, ended: Ended, by_the_thread: list[Record], transactions: list[int]
) -> None:
    matches = [f"m{number}" for number in range(20)]
    async with open_journal(sqlite_url) as journal:
        for match in matches:
            await journal.write(opened(match))
        await journal.write(ply(0, "m0"))
        await write_all(journal, *(ply(1, match) for match in matches))
        await journal.write(ended("m0"))
    assert transactions == [1, 20]
    assert by_the_thread == [*map(opened, matches), ended("m0")]
    assert read_match(sqlite_url, "m0").plies == (ply(0, "m0"), ply(1, "m0"))
    assert all(read_match(sqlite_url, match).plies == (ply(1, match),) for match in matches[1:])


async def test_matches_that_go_on_at_once_share_every_transaction_and_not_only_the_first(
    sqlite_url: str, opened: Opened, ply: Ply, transactions: list[int]
) -> None:
    matches = [f"m{number}" for number in range(10)]
    async with open_journal(sqlite_url) as journal:
        for match in matches:
            await journal.write(opened(match))

        async def play(match: str) -> None:
            for number in range(5):
                await journal.write(ply(number, match))

        async with trio.open_nursery() as nursery:
            for match in matches:
                nursery.start_soon(play, match)
    assert transactions == [10] * 5


async def test_what_is_written_in_one_turn_with_an_end_is_saved_in_the_order_of_the_calls(
    sqlite_url: str, opened: Opened, ply: Ply, ended: Ended, transactions: list[int]
) -> None:
    called: list[Record] = []
    refused: list[str] = []
    async with open_journal(sqlite_url) as journal, trio.open_nursery() as nursery:
        await journal.write(opened())

        async def write(record: Record) -> None:
            called.append(record)
            try:
                await journal.write(record)
            except JournalError as error:
                refused.append(error.code)

        nursery.start_soon(write, ply(0))
        nursery.start_soon(write, ended())
    assert transactions == []
    stored = read_match(sqlite_url, "m1")
    assert stored.ended is not None
    if called[0] == ply(0):
        assert (stored.plies, refused) == ((ply(0),), [])
    else:
        assert (stored.plies, refused) == ((), ["match_ended"])


@pytest.mark.parametrize("what", ["duplicate_ply", "unknown_match", "match_ended"])
async def test_a_refused_ply_is_explained_and_harms_no_other_of_its_turn(
    what: str, sqlite_url: str, opened: Opened, ply: Ply, ended: Ended
) -> None:
    async with open_journal(sqlite_url) as journal:
        await journal.write(opened("m1"))
        await journal.write(opened("m2"))
        await journal.write(ply(0, "m1"))
        await journal.write(opened("m3"))
        await journal.write(ended("m3"))
        bad = {"duplicate_ply": ply(0, "m1"), "unknown_match": ply(0, "m9"), "match_ended": ply(0, "m3")}[what]
        codes: list[str] = []

        async def attempt(record: Record) -> None:
            try:
                await journal.write(record)
            except JournalError as error:
                codes.append(error.code)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(attempt, bad)
            nursery.start_soon(attempt, ply(0, "m2"))
        assert codes == [what]
        assert journal.healthy
    assert read_match(sqlite_url, "m2").plies == (ply(0, "m2"),)
    assert read_match(sqlite_url, "m1").plies == (ply(0, "m1"),)


async def test_a_database_that_others_lock_does_not_hold_up_the_loop(
    sqlite_url: str, opened: Opened, ply: Ply, by_the_thread: list[Record]
) -> None:
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    async with open_journal(sqlite_url) as journal, trio.open_nursery() as nursery:
        await journal.write(opened())
        await journal.write(ply(0))
        other.execute("BEGIN IMMEDIATE")
        nursery.start_soon(journal.write, ply(1))
        turns = 0
        while ply(1) not in by_the_thread:  # the loop goes on while the thread waits for the lock
            turns += 1
            await trio.sleep(0.001)
        assert turns > 0
        assert read_match(sqlite_url, "m1").plies == (ply(0),)
        other.execute("COMMIT")
    other.close()
    assert read_match(sqlite_url, "m1").plies == (ply(0), ply(1))


async def test_who_lost_the_database_to_another_server_saves_nothing_by_itself_either(
    sqlite_url: str, opened: Opened, ply: Ply
) -> None:
    async with open_journal(sqlite_url) as journal:
        await journal.write(opened())
        await journal.write(ply(0))
        newcomer = Store(sqlite_url)
        newcomer.open()
        newcomer.close()
        with pytest.raises(JournalError) as refused:
            await journal.write(ply(1))
        assert refused.value.code == "database_in_use"
    assert read_match(sqlite_url, "m1").plies == (ply(0),)


async def test_a_database_that_was_moved_away_is_noticed_at_the_next_ply(
    sqlite_url: str, tmp_path: Path, opened: Opened, ply: Ply
) -> None:
    async with open_journal(sqlite_url) as journal:
        await journal.write(opened())
        await journal.write(ply(0))
        here, there = sqlite_url.removeprefix("sqlite:///"), tmp_path / "elsewhere.sqlite3"
        os.rename(here, there)
        with pytest.raises(JournalError) as lost:
            await journal.write(ply(1))
        assert lost.value.code == "write_failed"
        os.rename(there, here)
        await journal.write(ply(1), again=True)
        await journal.write(ply(2))
    assert read_match(sqlite_url, "m1").plies == (ply(0), ply(1), ply(2))


class Ticking:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_disk_that_kept_the_loop_waiting_is_left_to_the_thread_for_a_while(
    store: Store, ply: Ply, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, takes = Ticking(), 0.0
    save_at_once = store.save_at_once

    def slowly(plies: Sequence[PlyPlayed]) -> bool | None:
        clock.now += takes
        return save_at_once(plies)

    monkeypatch.setattr(store, "save_at_once", slowly)
    direct = DirectPlies(store, clock)
    assert direct.save([ply(0)])
    takes = LONG_SECONDS + 0.001
    assert direct.save([ply(1)]), "it is saved all the same"
    takes = 0.0
    assert not direct.save([ply(2)])
    clock.now += REST_SECONDS - 0.1
    assert not direct.save([ply(2)])
    clock.now += 0.2
    assert direct.save([ply(2)])


@pytest.mark.parametrize("begun", [True, False])
def test_after_a_failure_the_thread_closes_the_connection_and_makes_another(
    begun: bool, store: Store, ply: Ply, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert, broken = QuickPlies.insert, True

    def failing(quick: QuickPlies, connection: sa.Connection, values: Sequence[list[Any]]) -> bool:
        if broken:
            if begun:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            raise sqlite3.OperationalError("disk I/O error")
        return insert(quick, connection, values)

    monkeypatch.setattr(QuickPlies, "insert", failing)
    before = store._open_connection
    assert store.save_at_once([ply(0)]) is None
    broken = False
    assert store.save_at_once([ply(0)]) is False
    assert store._open_connection is before, "to close it might wait for the disk"
    assert store.save([ply(0)]) == [None], "what it had begun is undone"
    assert store._open_connection is not before
    assert store.save([ply(1)]) == [None]
    assert store.save_at_once([ply(2)])


def test_without_its_log_sqlite_is_left_to_the_thread(store: Store, ply: Ply, sqlite_url: str) -> None:
    store.close()
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))
    assert other.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    other.close()
    assert store.save([ply(0)]) == [None]
    assert not store.save_at_once([ply(1)])


def test_the_loop_waits_for_no_lock_and_the_thread_does(
    store: Store, ply: Ply, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 3600)
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    assert not store.save_at_once([ply(0)])
    assert not store.save_at_once([ply(0), ply(1)])
    release = threading.Timer(0.05, other.execute, ["COMMIT"])
    release.start()
    assert store.save([ply(0)]) == [None]
    release.join()
    other.close()
    assert store.save_at_once([ply(1)])


def test_after_an_end_which_waited_for_the_disk_a_ply_does_not(
    store: Store, opened: Opened, ply: Ply, ended: Ended
) -> None:
    def synchronous() -> int:
        assert store._open_connection is not None
        return int(store._open_connection.exec_driver_sql("PRAGMA synchronous").scalar_one())

    full, normal = 2, 1
    assert store.save([opened("m2")]) == store.save([ended("m2")]) == [None]
    assert synchronous() == full
    assert store.save_at_once([ply(0)])
    assert synchronous() == normal
    assert store.save([ended("m1")]) == [None]
    assert synchronous() == full


async def test_a_ply_of_which_nobody_knows_whether_it_was_saved_is_no_duplicate(
    sqlite_url: str, opened: Opened, ply: Ply, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert, broken = QuickPlies.insert, True

    def failing(quick: QuickPlies, connection: sa.Connection, values: Sequence[list[Any]]) -> bool:
        nonlocal broken
        saved = insert(quick, connection, values)
        if broken:
            broken = False
            raise sqlite3.OperationalError("the answer was lost")
        return saved

    async with open_journal(sqlite_url) as journal:
        await journal.write(opened())
        await journal.write(opened("m2"))
        monkeypatch.setattr(QuickPlies, "insert", failing)
        await journal.write(ply(0))
        await journal.write(ply(1))
    assert not broken
    assert read_match(sqlite_url, "m1").plies == (ply(0), ply(1))


def test_a_transaction_that_an_error_of_ours_left_open_takes_no_later_ply_back(
    sqlite_url: str, store: Store, opened: Opened, ply: Ply, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(fence: Fence, connection: sa.Connection) -> None:
        raise MemoryError

    with monkeypatch.context() as broken:
        broken.setattr(Fence, "check", fail)
        with pytest.raises(MemoryError):
            store.save([opened("m2")])
    for number in range(30):
        assert store.save_at_once([ply(number)]) or store.save([ply(number)]) == [None]
    store.close()
    assert len(read_match(sqlite_url, "m1").plies) == 30


def test_a_ply_that_can_t_be_stored_harms_no_other_of_its_turn(store: Store, ply: Ply) -> None:
    impossible = replace(ply(1), move={"x": float("nan")})
    before = store._open_connection
    assert store.save_at_once([ply(0), impossible]) is False
    assert store._open_connection is before, "nothing of it has reached the database"
    first, second = store.save([ply(0), impossible])
    assert first is None
    assert second is not None
    assert second.code == "bad_record"
    assert store.save([ply(1)]) == [None]
    assert store.save_at_once([ply(2)])


def test_nothing_is_inserted_into_a_transaction_that_somebody_left_open(store: Store, ply: Ply) -> None:
    assert store._open_connection is not None
    store._open_connection.exec_driver_sql("BEGIN IMMEDIATE")
    assert store.save_at_once([ply(0)]) is None
    assert store.save([ply(0)]) == [None]


def test_a_file_that_was_put_back_as_another_is_never_open_twice(
    sqlite_url: str, tmp_path: Path, store: Store, ply: Ply
) -> None:
    """SQLite's locks belong to a process and a file: closing one of two connections would take those of the other."""
    file = Path(sqlite_url.removeprefix("sqlite:///"))
    opened_files: list[int] = []

    def count_open() -> int:
        folder = Path("/proc/self/fd")
        if not folder.exists():
            return 1
        names = [os.path.realpath(entry) for entry in folder.iterdir()]
        return sum(name.split(" ")[0] == str(file) or name.startswith(f"{file} ") for name in names)

    assert store.save_at_once([ply(0)])
    for number in range(1, 6):
        copy = tmp_path / f"copy{number}"
        shutil.copy(file, copy)  # as a move to another disk and back does
        os.replace(copy, file)
        assert not store.save_at_once([ply(number)])
        verdicts = store.save([ply(number)])
        if verdicts != [None]:
            assert store.save([ply(number)], again=[0]) == [None]
        opened_files.append(count_open())
    assert opened_files == [1] * 5
