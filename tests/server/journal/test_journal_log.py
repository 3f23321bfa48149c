"""SQLite's log: short whatever others do, begun anew by the thread only, and rescued should somebody delete it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE

import pytest
import sqlalchemy as sa

from triarena.server.journal import JournalError, MatchOpened, PlyPlayed, open_journal, read_match, sqlite_log
from triarena.server.journal.sqlite_log import LONG_PAGES, RECORDS, RECORDS_UNTIL_AGAIN
from triarena.server.journal.store import Store

Opened = Callable[..., MatchOpened]
Ply = Callable[..., PlyPlayed]

deletes_open_files = pytest.mark.skipif(sys.platform == "win32", reason="there a file that is open can't be deleted")


async def test_the_log_of_a_database_does_not_grow_with_the_plies(sqlite_url: str, opened: Opened, ply: Ply) -> None:
    log = f"{sqlite_url.removeprefix('sqlite:///')}-wal"
    sizes: list[int] = []
    async with open_journal(sqlite_url) as journal:
        await journal.write(opened())
        for number in range(6 * RECORDS):
            await journal.write(ply(number))
            if number % 500 == 499:
                sizes.append(os.stat(log).st_size)
    assert max(sizes) <= 4 * sizes[0]
    assert len(read_match(sqlite_url, "m1").plies) == 6 * RECORDS


@pytest.mark.parametrize("others", ["lock", "read", "lock and keep reading"])
def test_the_log_stays_bounded_whatever_others_do_with_the_database(
    others: str, store: Store, ply: Ply, sqlite_url: str
) -> None:
    path = sqlite_url.removeprefix("sqlite:///")
    log = Path(f"{path}-wal")
    other, reader = (sqlite3.connect(path, isolation_level=None) for _ in range(2))
    sizes = []
    for number in range(12 * RECORDS):
        if number % 7 == 0 and "lock" in others:
            other.execute("BEGIN IMMEDIATE")
            assert store.save_at_once([ply(number)]) is False
            other.execute("ROLLBACK")
        if "read" in others and number % 4 == 0:
            if reader.in_transaction:
                reader.execute("COMMIT")
            if number % 40:
                reader.execute("BEGIN")
                reader.execute("SELECT count(*) FROM matches").fetchone()
        assert store.save_at_once([ply(number)]) or store.save([ply(number)]) == [None]
        sizes.append(log.stat().st_size)
    other.close()
    reader.close()
    assert max(sizes) < 32_000_000


def test_what_the_loop_saves_never_waits_for_the_disk(store: Store, ply: Ply, sqlite_url: str) -> None:
    """The log is begun anew, which waits, by the thread only: its header's number is another only after a batch of the
    thread's.
    """
    log = Path(f"{sqlite_url.removeprefix('sqlite:///')}-wal")

    def salt() -> bytes:
        with log.open("rb") as file:
            return file.read(24)[16:]

    begun, by_the_thread = salt(), 0
    for number in range(5 * RECORDS // 2):
        if store.save_at_once([ply(number)]):
            assert salt() == begun
        else:
            assert store.save([ply(number)]) == [None]
            by_the_thread += salt() != begun
            begun = salt()
    assert by_the_thread >= 2


def test_readers_who_take_turns_without_a_gap_are_waited_for_when_the_log_has_grown_long(
    store: Store, ply: Ply, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_log, "GROWN_PAGES", 2 * LONG_PAGES)
    path = sqlite_url.removeprefix("sqlite:///")
    readers = [sqlite3.connect(path, isolation_level=None, check_same_thread=False) for _ in range(2)]
    checkpoint, waited_for = sqlite_log._checkpoint, 0

    def read_on(number: int) -> None:
        """Another one begins before the last one ends."""
        readers[number % 2].execute("BEGIN")
        readers[number % 2].execute("SELECT count(*) FROM matches").fetchone()
        if readers[(number + 1) % 2].in_transaction:
            readers[(number + 1) % 2].execute("COMMIT")

    def stop() -> None:
        for reader in readers:
            if reader.in_transaction:
                reader.execute("COMMIT")

    def noted(connection: sa.Connection, kind: str) -> tuple[int, int, int]:
        nonlocal waited_for
        if kind == "RESTART":
            waited_for += 1
            threading.Timer(0.02, stop).start()
        return checkpoint(connection, kind)

    monkeypatch.setattr(sqlite_log, "_checkpoint", noted)
    sizes = []
    for number in range(12 * RECORDS):
        if number % 10 == 0:
            read_on(number // 10)
        assert store.save_at_once([ply(number)]) or store.save([ply(number)]) == [None]
        sizes.append(os.stat(f"{path}-wal").st_size)
    for reader in readers:
        reader.close()
    assert waited_for >= 2
    assert max(sizes) <= 3 * LONG_PAGES * 4096
    assert len(read_match(sqlite_url, "m1").plies) == 12 * RECORDS


def test_a_log_that_could_not_be_taken_back_is_asked_about_soon_again(
    store: Store, ply: Ply, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    def refused(connection: sa.Connection, kind: str) -> tuple[int, int, int]:
        nonlocal asked
        asked += 1
        return 1, -1, -1

    monkeypatch.setattr(sqlite_log, "_checkpoint", refused)
    for number in range(RECORDS + 10 * RECORDS_UNTIL_AGAIN):
        assert store.save_at_once([ply(number)]) or store.save([ply(number)]) == [None]
    assert asked >= 10


def as_found_after_kill(path: str, folder: Path) -> str:
    """The URL of a copy of the database as it lies there."""
    copy = folder / "killed" / "journal.sqlite3"
    copy.parent.mkdir()
    for name in ("", "-wal"):
        if os.path.exists(f"{path}{name}"):
            shutil.copy(f"{path}{name}", f"{copy}{name}")
    return f"sqlite:///{copy}"


@deletes_open_files
@pytest.mark.parametrize("names", [["wal"], ["shm"], ["wal", "shm"]], ids=" and ".join)
@pytest.mark.parametrize("at_once", [True, False])
def test_what_was_in_a_log_that_somebody_deleted_is_saved_with_the_next_record(
    names: list[str], at_once: bool, store: Store, ply: Ply, sqlite_url: str, tmp_path: Path
) -> None:
    path = sqlite_url.removeprefix("sqlite:///")
    for number in range(20):
        assert store.save_at_once([ply(number)])
    for name in names:
        Path(f"{path}-{name}").unlink()
    if at_once:
        assert store.save_at_once([ply(20)]) is False
    assert store.save([ply(20)]) == [None]
    assert store.save([ply(21)]) == [None]
    for number in range(22, 40):
        assert store.save_at_once([ply(number)]), "it has a log again"
    assert len(read_match(as_found_after_kill(path, tmp_path), "m1").plies) == 40


@deletes_open_files
def test_what_was_in_a_deleted_log_is_saved_at_the_end_if_no_record_follows(
    store: Store, ply: Ply, sqlite_url: str, tmp_path: Path
) -> None:
    path = sqlite_url.removeprefix("sqlite:///")
    assert store.save_at_once([ply(0)])
    Path(f"{path}-wal").unlink()
    store.close()
    assert store.lost is None
    assert read_match(as_found_after_kill(path, tmp_path), "m1").plies == (ply(0),)


@deletes_open_files
@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("spoilt", [True, False])
def test_while_others_have_a_database_open_whose_log_was_deleted_nothing_is_taken_for_stored(
    reads: bool, spoilt: bool, store: Store, ply: Ply, sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They hold the deleted file, and would later write what is in it over what is written meanwhile."""
    monkeypatch.setattr("triarena.server.journal.database.BUSY_SECONDS", 0.01)
    path = sqlite_url.removeprefix("sqlite:///")
    other = sqlite3.connect(path, isolation_level=None)
    assert store.save_at_once([ply(0)])
    if reads:
        other.execute("BEGIN")
    other.execute("SELECT count(*) FROM plies").fetchone()
    Path(f"{path}-wal").unlink()
    if spoilt:
        store._spoilt = True
    for _ in range(3):
        assert store.save_at_once([ply(1)]) is False
        [lost] = store.save([ply(1)])
        assert lost is not None
        assert lost.code == "write_failed"
        assert "another program" in lost.message
    if reads:
        other.execute("COMMIT")
    other.close()
    assert store.save([ply(1)], again=[0]) == [None]
    assert store.save_at_once([ply(2)]) or store.save([ply(2)]) == [None]
    assert read_match(as_found_after_kill(path, tmp_path), "m1").plies == (ply(0), ply(1), ply(2))


@deletes_open_files
def test_a_database_that_is_closed_before_its_deleted_log_could_be_saved_says_what_may_be_missing(
    store: Store, ply: Ply, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triarena.server.journal.database.BUSY_SECONDS", 0.01)
    path = sqlite_url.removeprefix("sqlite:///")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("SELECT count(*) FROM plies").fetchone()
    assert store.save_at_once([ply(0)])
    Path(f"{path}-wal").unlink()
    store.close()
    assert store.lost is not None
    assert "another program" in store.lost
    other.close()


@deletes_open_files
async def test_a_journal_that_ends_before_its_deleted_log_could_be_saved_says_what_to_do(
    opened: Opened, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triarena.server.journal.database.BUSY_SECONDS", 0.01)
    path = sqlite_url.removeprefix("sqlite:///")
    async with open_journal(sqlite_url) as journal:
        await journal.write(opened())
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("SELECT count(*) FROM plies").fetchone()
        os.unlink(f"{path}-wal")
    other.close()
    assert journal.unflushed is not None
    assert "may be missing" in journal.unflushed.message
    assert "before you start the server again" in journal.unflushed.message


@deletes_open_files
def test_what_another_program_wrote_into_a_new_log_is_not_overwritten(store: Store, ply: Ply, sqlite_url: str) -> None:
    path = sqlite_url.removeprefix("sqlite:///")
    assert store.save_at_once([ply(0)])
    for name in ("wal", "shm"):
        Path(f"{path}-{name}").unlink()
    script = (
        f"import sqlite3; other = sqlite3.connect({path!r}, isolation_level=None)\n"
        "other.execute('CREATE TABLE theirs (x)'); print('written', flush=True); input()"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdin=PIPE, stdout=PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "written\n"
        [lost] = store.save([ply(1)])
        assert lost is not None
        assert "has written to the database" in lost.message
        new_log = Path(f"{path}-wal").read_bytes()
        assert b"theirs" in new_log
        other.communicate("\n", timeout=30)


@deletes_open_files
def test_a_database_that_is_replaced_while_it_is_opened_counts_as_moved(
    store: Store, ply: Ply, sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    store.close()
    connect = sa.Engine.connect

    def replaced(engine: sa.Engine) -> sa.Connection:
        connection = connect(engine)
        connection.exec_driver_sql("SELECT count(*) FROM matches").all()
        shutil.copy(path, tmp_path / "copy")
        os.replace(tmp_path / "copy", path)
        return connection

    with monkeypatch.context() as racing:
        racing.setattr(sa.Engine, "connect", replaced)
        store.save([ply(0)])
    assert store.save_at_once([ply(1)]) is False
    [moved] = store.save([ply(1)])
    assert moved is not None
    assert moved.code == "write_failed"


def test_a_start_that_somebody_is_in_the_way_of_says_so(
    store: Store, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triarena.server.journal.database.BUSY_SECONDS", 0.01)
    store.close()
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    assert other.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM plies").fetchone()
    with pytest.raises(JournalError, match="another program works with the file"):
        Store(sqlite_url).open()
    other.close()
