"""What the referee may rely on when it writes to the journal."""

import dataclasses
import os
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
import sqlalchemy as sa
import trio
import trio.testing
from sqlalchemy import event

from triarena.server.journal import JournalError, MatchEnded, MatchOpened, PlyPlayed, Record, open_journal, read_match
from triarena.server.journal.store import Store, Verdict
from triarena.server.journal.writer import AT_ONCE

Opened = Callable[..., MatchOpened]
Ply = Callable[..., PlyPlayed]
Ended = Callable[..., MatchEnded]


class Turns(trio.abc.Instrument):
    """Counts the loop's turns."""

    number = 0

    def before_io_wait(self, timeout: float) -> None:
        self.number += 1


class Gate:
    """Holds the writer thread before each batch until it is opened, and notes the batches."""

    def __init__(self) -> None:
        self.batches: list[list[Record]] = []
        self.reached = threading.Event()
        self.open = threading.Event()

    def shut(self) -> None:
        """Hold the thread at its next batch."""
        self.open.clear()
        self.reached.clear()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate()
    save = Store.save

    def held(store: Store, records: Sequence[Record], again: Collection[int] = ()) -> list[Verdict]:
        gate.batches.append(list(records))
        gate.reached.set()
        assert gate.open.wait(timeout=30)
        return save(store, records, again)

    monkeypatch.setattr(Store, "save", held)
    yield gate
    gate.open.set()


@pytest.fixture
def statements() -> Iterator[list[str]]:
    """Every SQL statement that is executed, by its first word."""
    seen: list[str] = []

    def note(connection: sa.Connection, _cursor: object, statement: str, *_rest: object) -> None:
        if connection.dialect.name != "sqlite":
            seen.append(statement.split()[0])

    def trace(connection: Any, _record: object) -> None:
        if isinstance(connection, sqlite3.Connection):  # plies go to it directly
            connection.set_trace_callback(lambda statement: seen.append(statement.split()[0]))

    event.listen(sa.Engine, "before_cursor_execute", note)
    event.listen(sa.Engine, "connect", trace)
    yield seen
    event.remove(sa.Engine, "before_cursor_execute", note)
    event.remove(sa.Engine, "connect", trace)


async def test_what_was_written_is_read_back_equal(url: str, opened: Opened, ply: Ply, ended: Ended) -> None:
    async with open_journal(url) as journal:
        for record in (opened(), ply(0), ply(1), ended()):
            await journal.write(record)
    stored = read_match(url, "m1")
    assert stored.opened == opened()
    assert stored.plies == (ply(0), ply(1))
    assert stored.ended == ended()
    assert stored.result == ended().result


async def test_a_record_can_be_read_as_soon_as_its_write_returns(url: str, opened: Opened, ply: Ply) -> None:
    async with open_journal(url) as journal:
        await journal.write(opened())
        assert read_match(url, "m1").plies == ()
        await journal.write(ply(0))
        assert read_match(url, "m1").plies == (ply(0),)
        assert read_match(url, "m1").result is None


async def test_the_end_and_its_evidence_are_stored_together(url: str, opened: Opened, ply: Ply, ended: Ended) -> None:
    known = dataclasses.replace(ply(0), limit_ms=2000.0, overhead_ms=0.25, lag_ms=1.5)
    end = dataclasses.replace(ended(), evidence={"red": {"frames": [{"type": "move"}]}})
    async with open_journal(url) as journal:
        for record in (opened(), known, end):
            await journal.write(record)
        with pytest.raises(JournalError) as refused:
            await journal.write(dataclasses.replace(end, evidence={"red": "another"}))
    assert refused.value.code == "match_ended"
    stored = read_match(url, "m1")
    assert (stored.plies, stored.ended) == ((known,), end)


async def test_an_end_whose_evidence_cannot_be_stored_is_not_stored_either(
    url: str, opened: Opened, ended: Ended
) -> None:
    async with open_journal(url) as journal:
        await journal.write(opened())
        with pytest.raises(JournalError) as refused:
            await journal.write(dataclasses.replace(ended(), evidence={"lag": float("nan")}))
        assert refused.value.code == "bad_record"
        assert read_match(url, "m1").ended is None
        await journal.write(ended())
    assert read_match(url, "m1").ended == ended()


async def test_a_record_that_is_written_again_counts_once_and_only_if_it_is_the_same(
    url: str, opened: Opened, ply: Ply, ended: Ended
) -> None:
    end = dataclasses.replace(ended(), evidence={"lag_ms": 1.0})
    records: list[Record] = [opened(), ply(0), end]
    async with open_journal(url) as journal:
        for record in records:
            await journal.write(record)
        for record in records:
            await journal.write(record, again=True)
        for other in (dataclasses.replace(ply(0), text="another"), dataclasses.replace(end, evidence={})):
            with pytest.raises(JournalError):
                await journal.write(other, again=True)
        assert journal.healthy
    assert read_match(url, "m1").plies == (ply(0),)


async def test_a_draw_has_no_winner_and_a_result(url: str, opened: Opened, ended: Ended) -> None:
    async with open_journal(url) as journal:
        await journal.write(opened())
        await journal.write(ended(winner=None))
    stored = read_match(url, "m1")
    assert stored.ended == ended(winner=None)


@pytest.mark.parametrize("seed", [0, -1, 2**63, 2**64 - 1, 10**30])
async def test_a_seed_of_any_size_survives(url: str, opened: Opened, seed: int) -> None:
    record = dataclasses.replace(opened(), seed=seed)
    async with open_journal(url) as journal:
        await journal.write(record)
    assert read_match(url, "m1").opened.seed == seed


async def test_the_journal_continues_after_a_restart(url: str, opened: Opened, ply: Ply) -> None:
    async with open_journal(url) as journal:
        await journal.write(opened())
        await journal.write(ply(0))
    async with open_journal(url) as journal:
        await journal.write(ply(1))
    assert read_match(url, "m1").plies == (ply(0), ply(1))


async def test_writers_that_come_together_are_saved_in_order_in_one_transaction(
    url: str, opened: Opened, ply: Ply, gate: Gate, statements: list[str]
) -> None:
    async with open_journal(url) as journal, trio.open_nursery() as nursery:
        nursery.start_soon(journal.write, opened())
        await trio.to_thread.run_sync(gate.reached.wait)
        for number in range(10):
            nursery.start_soon(journal.write, ply(number))
            await trio.testing.wait_all_tasks_blocked()
        statements.clear()
        gate.open.set()
    assert gate.batches == [[opened()], [ply(number) for number in range(10)]]
    # SQLite looks at its fence within each transaction, with plies as they are inserted; it tells of each execution.
    # Before the first it is asked how long its log is.
    sqlite = ["PRAGMA", "BEGIN", "SELECT", "INSERT", "COMMIT", "BEGIN", *["INSERT"] * 10, "COMMIT"]
    assert statements == (sqlite if url.startswith("sqlite") else ["INSERT", "BEGIN", "INSERT", "COMMIT"])
    assert [stored.ply for stored in read_match(url, "m1").plies] == list(range(10))


async def test_of_ends_that_were_saved_together_a_few_go_on_in_each_turn_of_the_loop_and_all_else_at_once(
    url: str, opened: Opened, ended: Ended, gate: Gate
) -> None:
    turns = Turns()
    went_on: dict[str, list[int]] = {"opened": [], "ended": []}

    async def write(kind: str, record: Record) -> None:
        await journal.write(record)
        went_on[kind].append(turns.number)

    matches = [f"m{number}" for number in range(5 * AT_ONCE)]
    async with open_journal(url) as journal:
        gate.open.set()
        async with trio.open_nursery() as nursery:
            for match in matches:
                nursery.start_soon(journal.write, opened(match))
        gate.shut()
        trio.lowlevel.add_instrument(turns)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(journal.write, opened("first"))
            await trio.to_thread.run_sync(gate.reached.wait)
            for match in matches:
                nursery.start_soon(write, "ended", ended(match))
                nursery.start_soon(write, "opened", opened(f"another {match}"))
            await trio.testing.wait_all_tasks_blocked()
            gate.open.set()
        trio.lowlevel.remove_instrument(turns)
    assert len(gate.batches[-1]) == 2 * len(matches)
    assert Counter(Counter(went_on["ended"]).values()) == {AT_ONCE: 5}
    assert set(went_on["opened"]) == {min(went_on["ended"])}


async def test_nobody_is_left_waiting_when_the_journal_ends_while_ends_are_told_one_after_another(
    url: str, opened: Opened, ended: Ended, gate: Gate
) -> None:
    matches = [f"m{number}" for number in range(5 * AT_ONCE)]
    went_on: list[str] = []
    begun = trio.Event()

    async def write(match: str) -> None:
        await journal.write(ended(match))
        went_on.append(match)
        begun.set()

    async with trio.open_nursery() as nursery:
        async with open_journal(url) as journal:
            gate.open.set()
            for match in matches:
                await journal.write(opened(match))
            gate.shut()
            nursery.start_soon(journal.write, opened("first"))  # noqa: ASYNC111 - it is closed while they wait
            await trio.to_thread.run_sync(gate.reached.wait)
            for match in matches:
                nursery.start_soon(write, match)  # noqa: ASYNC111 - the same
            await trio.testing.wait_all_tasks_blocked()
            gate.open.set()
            await begun.wait()
        assert journal.unflushed is None
    assert sorted(went_on) == sorted(matches)


async def test_kinds_of_records_may_be_mixed_in_a_batch(
    url: str, opened: Opened, ply: Ply, ended: Ended, gate: Gate
) -> None:
    async with open_journal(url) as journal, trio.open_nursery() as nursery:
        nursery.start_soon(journal.write, opened("first"))
        await trio.to_thread.run_sync(gate.reached.wait)
        for record in (opened(), ply(0), ply(0, "first"), ply(1), ended(), ended("first")):
            nursery.start_soon(journal.write, record)
            await trio.testing.wait_all_tasks_blocked()
        gate.open.set()
    assert len(gate.batches) == 2
    assert read_match(url, "m1").plies == (ply(0), ply(1))
    assert read_match(url, "first").ended == ended("first")


async def test_a_refused_record_does_not_harm_the_others_of_its_batch(
    url: str, opened: Opened, ply: Ply, ended: Ended, gate: Gate
) -> None:
    codes: dict[int, str] = {}

    async def attempt(index: int, record: Record) -> None:
        await trio.lowlevel.checkpoint()
        try:
            await journal.write(record)
        except JournalError as error:
            codes[index] = error.code

    records: list[Record] = [
        opened("m2"),
        ply(0),
        ply(0),
        ply(1, "nowhere"),
        ply(1),
        opened("m2"),
        ended(),
        ply(2),
        ply(0, "m2"),
    ]
    async with open_journal(url) as journal, trio.open_nursery() as nursery:
        nursery.start_soon(journal.write, opened())
        await trio.to_thread.run_sync(gate.reached.wait)
        for index, record in enumerate(records):
            nursery.start_soon(attempt, index, record)
            await trio.testing.wait_all_tasks_blocked()
        gate.open.set()
    assert len(gate.batches) == 2
    assert codes == {2: "duplicate_ply", 3: "unknown_match", 5: "duplicate_match", 7: "match_ended"}
    assert read_match(url, "m1").plies == (ply(0), ply(1))
    assert read_match(url, "m1").ended == ended()
    assert read_match(url, "m2").plies == (ply(0, "m2"),)


@pytest.mark.parametrize(
    ("again", "code"), [("opened", "duplicate_match"), ("ply", "duplicate_ply"), ("ended", "match_ended")]
)
async def test_a_duplicate_is_refused_and_what_stands_stays(
    url: str, opened: Opened, ply: Ply, ended: Ended, again: str, code: str
) -> None:
    later: dict[str, Record] = {
        "opened": dataclasses.replace(opened(), red="Somebody else"),
        "ply": dataclasses.replace(ply(0), text="another"),
        "ended": dataclasses.replace(ended(), winner="blue"),
    }
    async with open_journal(url) as journal:
        await journal.write(opened())
        await journal.write(ply(0))
        if again == "ended":
            await journal.write(ended())
        with pytest.raises(JournalError, match="m1") as refused:
            await journal.write(later[again])
        assert journal.healthy
    assert refused.value.code == code
    stored = read_match(url, "m1")
    assert (stored.opened, stored.plies) == (opened(), (ply(0),))
    assert stored.ended == (ended() if again == "ended" else None)


async def test_a_record_equal_to_the_stored_one_is_a_duplicate_too(url: str, opened: Opened, ply: Ply) -> None:
    async with open_journal(url) as journal:
        await journal.write(opened())
        await journal.write(ply(0))
        with pytest.raises(JournalError) as refused:
            await journal.write(ply(0))
    assert refused.value.code == "duplicate_ply"


@pytest.mark.parametrize("kind", ["ply", "ended"])
async def test_a_match_that_was_not_opened_takes_nothing(url: str, ply: Ply, ended: Ended, kind: str) -> None:
    async with open_journal(url) as journal:
        with pytest.raises(JournalError) as refused:
            await journal.write(ply(0, "nowhere") if kind == "ply" else ended("nowhere"))
    assert refused.value.code == "unknown_match"


@pytest.mark.parametrize("move", [{"x": float("nan")}, {"x": object()}, {(1, 2): 3}], ids=["nan", "object", "key"])
async def test_what_is_no_json_is_the_callers_fault(url: str, opened: Opened, ply: Ply, move: dict[Any, Any]) -> None:
    async with open_journal(url) as journal:
        await journal.write(opened())
        with pytest.raises(JournalError) as refused:
            await journal.write(dataclasses.replace(ply(0), move=move))
        assert refused.value.code == "bad_record"
        assert journal.healthy
        await journal.write(ply(0))


@pytest.mark.parametrize("text", ["a\ud800b", None], ids=["lone-surrogate", "none"])
async def test_what_no_column_can_hold_is_the_callers_fault(url: str, opened: Opened, ply: Ply, text: Any) -> None:
    async with open_journal(url) as journal:
        await journal.write(opened())
        with pytest.raises(JournalError) as refused:
            await journal.write(dataclasses.replace(ply(0), text=text))
        assert refused.value.code == "bad_record"
        await journal.write(ply(0))


def test_a_record_has_its_time_in_utc(ply: Ply) -> None:
    for at in (datetime(2031, 1, 1), datetime(2031, 1, 1, tzinfo=timezone(timedelta(hours=2)))):
        with pytest.raises(ValueError, match="UTC"):
            dataclasses.replace(ply(0), at=at)


async def test_a_cancelled_write_is_saved_once_it_was_queued(url: str, opened: Opened, ply: Ply, gate: Gate) -> None:
    async with open_journal(url) as journal:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(journal.write, opened())
            await trio.to_thread.run_sync(gate.reached.wait)
            nursery.start_soon(journal.write, ply(0))
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        gate.open.set()
        await journal.write(ply(1))
    assert read_match(url, "m1").plies == (ply(0), ply(1))


async def test_a_write_that_is_cancelled_before_it_began_writes_nothing(url: str, opened: Opened) -> None:
    async with open_journal(url) as journal:
        with trio.CancelScope() as scope:
            scope.cancel()
            await journal.write(opened())
        assert scope.cancelled_caught
    with pytest.raises(JournalError):
        read_match(url, "m1")


async def test_more_writers_than_the_backlog_holds_wait_and_are_all_saved(
    sqlite_url: str, opened: Opened, ply: Ply, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triarena.server.journal.writer.BACKLOG", 4)
    async with open_journal(sqlite_url) as journal, trio.open_nursery() as nursery:
        nursery.start_soon(journal.write, opened())
        await trio.to_thread.run_sync(gate.reached.wait)
        for number in range(20):
            nursery.start_soon(journal.write, ply(number))
            await trio.testing.wait_all_tasks_blocked()
        gate.open.set()
    assert max(map(len, gate.batches)) <= 4
    assert read_match(sqlite_url, "m1").plies == tuple(ply(number) for number in range(20))


async def test_leaving_saves_what_is_pending_even_when_cancelled(
    sqlite_url: str, opened: Opened, ply: Ply, gate: Gate
) -> None:
    with trio.CancelScope() as scope:
        async with open_journal(sqlite_url) as journal, trio.open_nursery() as nursery:
            for record in (opened(), ply(0), ply(1)):
                nursery.start_soon(journal.write, record)
                await trio.testing.wait_all_tasks_blocked()
            gate.open.set()
            scope.cancel()
    assert read_match(sqlite_url, "m1").plies == (ply(0), ply(1))


async def test_a_closed_journal_refuses_records(sqlite_url: str, opened: Opened) -> None:
    async with open_journal(sqlite_url) as journal:
        pass
    with pytest.raises(JournalError) as refused:
        await journal.write(opened())
    assert refused.value.code == "journal_closed"


async def test_an_error_of_the_body_leaves_the_journal_unwrapped(sqlite_url: str) -> None:
    with pytest.raises(ZeroDivisionError):
        async with open_journal(sqlite_url):
            raise ZeroDivisionError


WRITER = """
import dataclasses, datetime, itertools, sys, trio
from triarena.server.journal import MatchOpened, PlyPlayed, open_journal

at = datetime.datetime(2031, 5, 4, tzinfo=datetime.UTC)

async def main():
    async with open_journal(sys.argv[1]) as journal:
        await journal.write(MatchOpened("m1", "r", "towerwars", 1, {}, 7, {}, "a", "b", {}, at))
        for ply in itertools.count():
            await journal.write(PlyPlayed("m1", ply, "red", {}, "A1 A2", 1.0, at))
            print(ply, flush=True)

trio.run(main)
"""


def test_killing_the_server_loses_no_acknowledged_ply(url: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, url], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        for _ in range(50):
            process.stdout.readline()
        process.kill()
        rest = process.stdout.read().split()
    acknowledged = 50 + len(rest)
    plies = read_match(url, "m1").plies
    assert [stored.ply for stored in plies[:acknowledged]] == list(range(acknowledged))
    assert len(plies) <= acknowledged + 1
