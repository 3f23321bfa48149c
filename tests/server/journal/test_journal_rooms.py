"""Rooms in the journal: kept as they are now, forgotten when they are no more or have been played in."""

from collections.abc import Callable

import pytest

from triarena.server.journal import (
    JournalError,
    MatchEnded,
    MatchOpened,
    Record,
    RoomForgotten,
    RoomKept,
    kept_rooms,
    open_journal,
)
from triarena.server.journal.store import Store

STATE = {"game": "towerwars", "slots": [{"name": "Jörg"}, None], "paused": True, "seed": 2**48}


def kept(room: str = "abcd", match: str = "m1", **changes: object) -> RoomKept:
    return RoomKept(room, match, STATE | changes)


async def test_a_room_is_kept_with_its_latest_state(url: str) -> None:
    async with open_journal(url) as journal:
        await journal.write(kept())
        await journal.write(kept("efgh"))
        await journal.write(kept(paused=False))
        assert kept_rooms(url) == [kept(paused=False), kept("efgh")]


async def test_a_name_may_be_used_for_another_room_later(url: str) -> None:
    async with open_journal(url) as journal:
        await journal.write(kept())
        await journal.write(kept(match="m2", paused=False))
        assert kept_rooms(url) == [kept(match="m2", paused=False)]


async def test_a_forgotten_room_is_gone_and_may_be_forgotten_again(url: str) -> None:
    async with open_journal(url) as journal:
        await journal.write(kept())
        await journal.write(RoomForgotten("abcd"))
        await journal.write(RoomForgotten("abcd"))
        await journal.write(RoomForgotten("never"))
        assert kept_rooms(url) == []


def test_the_order_within_one_transaction_is_kept(url: str) -> None:
    store = Store(url)
    store.open()
    records: list[Record] = [kept(), kept(paused=False), kept("efgh"), RoomForgotten("efgh"), kept("ijkl")]
    assert set(store.save(records)) == {None}
    records = [RoomForgotten("none"), kept("efgh"), RoomForgotten("abcd"), kept("abcd", "m9")]
    assert set(store.save(records)) == {None}, "forgetting a room that was not kept harms nobody else"
    store.close()
    assert kept_rooms(url) == [kept("abcd", "m9"), kept("efgh"), kept("ijkl")]


async def test_a_room_whose_match_has_ended_is_not_opened_again(
    url: str, opened: Callable[..., MatchOpened], ended: Callable[..., MatchEnded]
) -> None:
    async with open_journal(url) as journal:
        await journal.write(kept(match="m1"))
        await journal.write(kept("efgh", match="m2"))
        await journal.write(opened("m1"))
        assert len(kept_rooms(url)) == 2
        await journal.write(ended("m1"))
        assert kept_rooms(url) == [kept("efgh", match="m2")]
    async with open_journal(url) as journal:
        await journal.write(kept("efgh", match="m1"))
        assert kept_rooms(url) == []


def test_the_rest_of_a_server_that_died_is_swept_at_the_start(
    url: str, opened: Callable[..., MatchOpened], ended: Callable[..., MatchEnded]
) -> None:
    store = Store(url)
    store.open()
    assert set(store.save([kept(match="m1"), kept("efgh", "m2"), opened("m1"), ended("m1")])) == {None}
    store.close()
    again = Store(url)
    again.open()
    with again._connection() as connection:
        assert list(connection.exec_driver_sql("SELECT room FROM rooms").scalars()) == ["efgh"]


async def test_a_state_that_is_no_json_is_refused_and_nothing_is_changed(url: str) -> None:
    async with open_journal(url) as journal:
        await journal.write(kept())
        with pytest.raises(JournalError, match="RoomKept of room abcd") as refused:
            await journal.write(kept(seed=float("nan")))
        assert refused.value.code == "bad_record"
    assert kept_rooms(url) == [kept()]
