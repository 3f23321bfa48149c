"""What SQLite has on the disk before it counts as saved: whatever was announced or given out for good."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from triarena.server.journal import MatchEnded, MatchOpened, PlyPlayed, Record, RoomForgotten, RoomKept
from triarena.server.journal.store import Store

Opened = Callable[..., MatchOpened]
Ply = Callable[..., PlyPlayed]
Ended = Callable[..., MatchEnded]
ROOM = RoomKept("r1", "m9", {"seats": {}})


@pytest.fixture
def trace() -> Iterator[list[str]]:
    """Every statement that SQLite executes, in order, whoever asks for it."""
    statements: list[str] = []

    def watch(connection: Any, _record: object) -> None:
        connection.set_trace_callback(statements.append)

    event.listen(sa.Engine, "connect", watch)
    yield statements
    event.remove(sa.Engine, "connect", watch)


def commits(trace: Sequence[str]) -> list[str]:
    """How each transaction was committed: FULL waits for the disk, NORMAL does not."""
    modes, mode, begun = [], "?", False
    for statement in trace:
        if statement.startswith("PRAGMA synchronous = "):
            mode = statement.rpartition(" ")[2]
        elif statement.startswith("BEGIN"):
            begun = True
        elif statement == "COMMIT" or (not begun and statement.startswith("INSERT INTO plies")):
            modes.append(mode)  # a lone statement is a transaction of its own
            begun = False
        elif statement == "ROLLBACK":
            begun = False
    return modes


@pytest.fixture
def store(sqlite_url: str, opened: Opened, trace: list[str]) -> Iterator[Store]:
    store = Store(sqlite_url)
    store.open()
    assert store.save([opened("m1"), opened("m2")]) == [None, None]
    trace.clear()
    trace.append("PRAGMA synchronous = NORMAL")
    yield store
    store.close()


def test_plies_do_not_wait_for_the_disk_and_ends_do(store: Store, trace: list[str], ply: Ply, ended: Ended) -> None:
    for batch in ([ply(0)], [ply(1), ply(0, "m2")], [ended("m1")], [ply(1, "m2")], [ended("m2")]):
        assert store.save(batch) == [None] * len(batch)
    assert commits(trace) == ["NORMAL", "NORMAL", "FULL", "NORMAL", "FULL"]


@pytest.mark.parametrize("record", [ROOM, RoomForgotten("r1")])
def test_what_is_kept_of_a_room_waits_for_the_disk(store: Store, trace: list[str], record: Record) -> None:
    assert store.save([ROOM]) == store.save([record]) == [None]
    assert commits(trace) == ["FULL", "FULL"]


@pytest.mark.parametrize("last", [True, False])
def test_a_batch_with_an_end_in_it_waits_as_a_whole(
    store: Store, trace: list[str], ply: Ply, ended: Ended, last: bool
) -> None:
    batch: list[Record] = [ply(0), ply(0, "m2"), ended("m1")]
    assert store.save(batch if last else batch[::2] + batch[1:2]) == [None] * 3
    assert commits(trace) == ["FULL"]


def test_an_end_that_is_saved_alone_waits_also_when_its_batch_failed(
    store: Store, trace: list[str], ply: Ply, ended: Ended
) -> None:
    refused, *saved = store.save([ply(0, "unknown"), ended("m1"), ply(0, "m2")])
    assert refused is not None
    assert saved == [None, None]
    assert commits(trace) == ["FULL", "NORMAL"]


def test_a_new_connection_begins_anew(store: Store, trace: list[str], ply: Ply, ended: Ended) -> None:
    assert store.save([ended("m1")]) == [None]
    store.close()
    assert store.save([ply(0, "m2")]) == [None]
    assert store.save([ended("m2")]) == [None]
    assert commits(trace) == ["FULL", "NORMAL", "FULL"]
