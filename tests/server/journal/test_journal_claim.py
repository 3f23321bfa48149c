"""One server per database: the second is refused in a sentence, the death of the first frees the claim at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
import trio

from triarena.server.journal import JournalError, claim_database, database, list_matches, open_journal
from triarena.server.journal import claim as claim_module

HOLD = """
import sys, trio
from triarena.server.journal import claim_database

async def main():
    async with claim_database(sys.argv[1]):
        print("held", flush=True)
        await trio.sleep_forever()

trio.run(main)
"""


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claim_module, "PATIENCE_SECONDS", 0.3)
    monkeypatch.setattr(claim_module, "LOOK_SECONDS", 0.05)


@pytest.fixture
def holder(url: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the claim."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, url], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


async def test_a_second_server_is_refused_and_told_who_holds_the_database(
    url: str, holder: subprocess.Popen[str]
) -> None:
    with pytest.raises(
        JournalError, match=rf"process {holder.pid} on .*; stop that server, or name another"
    ) as refused:
        async with claim_database(url):
            pass
    assert refused.value.code == "database_in_use"


async def test_a_killed_server_leaves_the_database_free_at_once(
    url: str, holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claim_module, "PATIENCE_SECONDS", 2.0)
    holder.send_signal(signal.SIGKILL)
    async with claim_database(url):
        pass


async def test_a_claim_that_was_given_back_can_be_made_again(url: str) -> None:
    for _ in range(2):
        async with claim_database(url):
            with pytest.raises(JournalError) as refused:
                async with claim_database(url):
                    pass
            assert refused.value.code == "database_in_use"
            assert str(os.getpid()) in refused.value.message


async def test_reading_needs_no_claim(url: str, holder: subprocess.Popen[str]) -> None:
    async with open_journal(url):
        pass
    assert list_matches(url) == []


async def test_another_way_to_the_same_file_is_the_same_database(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real").mkdir()
    async with claim_database(f"sqlite:///{tmp_path}/real/journal.sqlite3"):
        with pytest.raises(JournalError) as refused:
            async with claim_database(f"sqlite:///{tmp_path}/link/journal.sqlite3"):
                pass
        assert refused.value.code == "database_in_use"
        async with claim_database(f"sqlite:///{tmp_path}/real/other.sqlite3"):
            pass


async def test_two_schemas_of_one_postgresql_are_two_databases(postgresql_url: str, postgresql_cluster: sa.URL) -> None:
    async with claim_database(postgresql_url):
        elsewhere = postgresql_cluster.update_query_dict({"options": "-csearch_path=pg_catalog"})
        async with claim_database(elsewhere.render_as_string(hide_password=False)):
            pass


@pytest.mark.parametrize("url", ["sqlite:////proc/nothing/journal.sqlite3", "postgresql://me:swordfish@127.0.0.1:1/db"])
async def test_a_place_that_cannot_be_claimed_is_told(url: str) -> None:
    with pytest.raises(JournalError, match="cannot be opened") as refused:
        async with claim_database(url):
            pass
    assert refused.value.code == "cannot_open"
    assert "swordfish" not in refused.value.message


def end_the_holder(url: str) -> None:
    """End the session that holds the claim, as a restart of PostgreSQL would."""
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        ended = connection.exec_driver_sql(
            "SELECT pg_terminate_backend(l.pid, 5000) FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
            f" WHERE l.locktype = 'advisory' AND a.application_name LIKE 'triarena, process {os.getpid()} on %%'"
        )
        assert list(ended.scalars()) == [True]


async def test_a_lost_session_is_noticed_and_the_claim_renewed(postgresql_url: str) -> None:
    async with claim_database(postgresql_url) as claim, trio.open_nursery() as nursery:
        nursery.start_soon(claim.guard, nursery.cancel_scope)
        for _ in range(2):
            await trio.to_thread.run_sync(end_the_holder, postgresql_url)
            with trio.fail_after(10):
                while not await refused(postgresql_url):
                    pass
        assert claim.failure is None
        nursery.cancel_scope.cancel()


async def refused(url: str) -> bool:
    """Whether somebody holds the claim, asked without waiting."""
    parsed = database.parse_url(url)
    lock: claim_module._Hold
    lock = claim_module._FileLock(parsed) if url.startswith("sqlite") else claim_module._SessionLock(parsed)
    holder = await trio.to_thread.run_sync(lock.take)
    lock.release()
    return holder is not None


class Renewals:
    """In the place of the claim's log: waits until a claim was renewed."""

    def __init__(self) -> None:
        self._renewed = trio.Event()
        self.lost = trio.Event()

    def warning(self, event: str, **details: object) -> None:
        if event == "claim_lost":
            self.lost.set()
        if event == "claim_renewed":
            self._renewed.set()

    async def next(self) -> None:
        await self._renewed.wait()
        self._renewed = trio.Event()


@pytest.fixture
def renewals(monkeypatch: pytest.MonkeyPatch) -> Renewals:
    found = Renewals()
    monkeypatch.setattr(claim_module, "_log", found)
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="there a file that is open can't be deleted")
@pytest.mark.parametrize("replaced", [False, True])
async def test_a_lock_whose_file_was_deleted_is_made_anew(
    sqlite_url: str, tmp_path: Path, replaced: bool, renewals: Renewals
) -> None:
    async with claim_database(sqlite_url) as claim, trio.open_nursery() as nursery:
        nursery.start_soon(claim.guard, nursery.cancel_scope)
        for _ in range(2):
            (tmp_path / "journal.sqlite3.lock").unlink()
            if replaced:
                (tmp_path / "journal.sqlite3.lock").touch()
            with trio.fail_after(10):
                await renewals.next()
            assert await refused(sqlite_url)
        assert claim.failure is None
        nursery.cancel_scope.cancel()


@pytest.mark.skipif(sys.platform == "win32", reason="there a folder with an open file can't be moved")
async def test_a_folder_that_was_moved_away_is_not_made_anew_and_can_be_put_back(
    tmp_path: Path, renewals: Renewals
) -> None:
    here, there = tmp_path / "data", tmp_path / "away"
    async with claim_database(f"sqlite:///{here}/journal.sqlite3") as claim, trio.open_nursery() as nursery:
        nursery.start_soon(claim.guard, nursery.cancel_scope)
        here.rename(there)
        with trio.fail_after(10):
            await renewals.lost.wait()
            await trio.sleep(5 * claim_module.RETRY_SECONDS)
            assert not here.exists()
            there.rename(here)
            await renewals.next()
        assert await refused(f"sqlite:///{here}/journal.sqlite3")
        nursery.cancel_scope.cancel()


@pytest.mark.skipif(sys.platform == "win32", reason="there a file that is open can't be deleted")
async def test_a_server_whose_lock_was_deleted_and_taken_by_another_stops_and_says_so(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with claim_database(sqlite_url) as claim:
        (tmp_path / "journal.sqlite3.lock").unlink()
        async with claim_database(sqlite_url):
            with trio.fail_after(10):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(claim.guard, nursery.cancel_scope)
                    await trio.sleep_forever()
            assert claim.failure is not None
            assert claim.failure.code == "database_in_use"
            with pytest.raises(JournalError):
                async with claim_database(sqlite_url):
                    pass


async def test_a_server_whose_claim_was_taken_over_stops_and_says_who_has_it(postgresql_url: str) -> None:
    async with claim_database(postgresql_url) as claim:
        await trio.to_thread.run_sync(end_the_holder, postgresql_url)
        async with claim_database(postgresql_url):
            with trio.fail_after(10):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(claim.guard, nursery.cancel_scope)
                    await trio.sleep_forever()
        assert claim.failure is not None
        assert claim.failure.code == "database_in_use"
