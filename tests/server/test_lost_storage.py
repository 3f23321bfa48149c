"""A lost database makes matches wait: nothing is announced that is not stored, and nothing is lost or charged."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.values import PROTOCOL
from triarena.server.events import Cancelled
from triarena.server.journal import MatchEnded, PlyPlayed

from .conftest import PATIENCE, Client, World, house


@pytest.fixture
async def world(autojump_clock: MockClock) -> AsyncIterator[World]:
    async with trio.open_nursery() as nursery:
        yield World(nursery, house(grace=30.0), PATIENCE)
        nursery.cancel_scope.cancel()


async def playing(world: World, **options: int) -> tuple[Client, Client, str]:
    """Two clients in a match before its first move, and the room."""
    red, blue = await world.pair("towerwars", size=4, **options)
    room = (await red.start()).room
    await blue.start()
    return red, blue, room


async def lost_after_a_move(world: World, red: Client, blue: Client) -> None:
    """Red's move can't be stored: both are told that the match waits."""
    world.journal.broken = True
    await red.move(await red.hear(s.YourTurn))
    for client in (red, blue):
        notice = await client.hear(s.Notice)
        assert notice.code == "storage_lost"


async def test_a_match_waits_for_the_database_and_goes_on_by_itself(world: World, autojump_clock: MockClock) -> None:
    red, blue, room = await playing(world)
    admin = await (await world.client()).administer()
    await lost_after_a_move(world, red, blue)
    cause = await admin.wait_for(s.Notice)
    assert (cause.room, "the disk is full" in cause.message) == (room, True)
    await trio.sleep(3600)
    assert world.journal.kinds() == ["MatchOpened"]
    assert (world.lobby.rooms[room].state, world.lobby.rooms[room].info().storage_lost) == ("paused", True)
    world.journal.broken = False
    for client in (red, blue):
        assert (await client.hear(s.Notice)).code == "storage_back"
        assert (await client.hear(s.Moved)).ply == 0
    turn = await blue.hear(s.YourTurn)
    assert turn.clock.remaining_ms == 2000.0
    assert world.lobby.rooms[room].state == "running"
    assert [r.ply for r in world.journal.records if isinstance(r, PlyPlayed)] == [0]


async def test_whoever_comes_is_told_that_the_database_is_lost(world: World, autojump_clock: MockClock) -> None:
    async def told() -> bool:
        client = Client(world.raw())
        await client.say(c.Hello(protocol=PROTOCOL, software=""))
        return (await client.hear(s.Welcome)).storage_lost

    red, blue, _ = await playing(world)
    assert not await told()
    await lost_after_a_move(world, red, blue)
    assert await told()
    world.journal.broken = False
    assert await told(), "the match still waits"
    await red.wait_for(s.Notice)
    assert not await told()


async def test_the_wait_is_no_players_time(world: World, autojump_clock: MockClock) -> None:
    red, blue, room = await playing(world)
    await lost_after_a_move(world, red, blue)
    await trio.sleep(600)
    world.journal.broken = False
    await blue.play_on(1)
    await red.wait_for(s.YourTurn)
    referee = world.lobby.rooms[room].referee
    assert referee is not None
    assert [clock.used for clock in referee.clocks.values()] == [0.0, 0.0], "both answered at once"


async def test_a_record_that_was_stored_although_the_write_failed_is_no_duplicate(
    world: World, autojump_clock: MockClock
) -> None:
    world.journal.forgetful = True
    red, blue, _ = await playing(world, max_plies=2)
    await lost_after_a_move(world, red, blue)
    await trio.sleep(10)
    world.journal.broken = False
    await blue.play_on(1)
    assert (await red.wait_for(s.MatchOver)).result.reason == "ply_limit"
    assert world.journal.kinds() == ["MatchOpened", "PlyPlayed", "PlyPlayed", "MatchEnded"]


async def test_a_database_that_does_not_answer_is_lost_after_some_seconds(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, _ = await playing(world)
    turn = await red.hear(s.YourTurn)
    silence = world.journal.silence = trio.Event()
    began = trio.current_time()
    await red.move(turn)
    assert (await blue.hear(s.Notice)).code == "storage_lost"
    assert trio.current_time() - began == 5.0
    silence.set()
    assert (await blue.hear(s.Notice)).code == "storage_back"
    assert (await blue.hear(s.Moved)).ply == 0


async def test_a_match_whose_start_cannot_be_stored_does_not_start(world: World, autojump_clock: MockClock) -> None:
    world.journal.broken = True
    red, blue = await world.pair(size=4)
    for client in (red, blue):
        assert (await client.hear(s.Notice)).code == "storage_lost"
    await trio.sleep(600)
    world.journal.broken = False
    assert (await red.wait_for(s.Notice)).code == "storage_back"
    await red.start()
    await blue.start()
    await red.play_on(1)


async def test_a_win_that_cannot_be_stored_is_not_announced_before_it_is(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, room = await playing(world)
    await red.hear(s.YourTurn)
    world.journal.broken = True
    await blue.say(c.Surrender(room=room))
    assert (await red.hear(s.Notice)).code == "storage_lost"
    await trio.sleep(600)
    assert world.lobby.rooms[room].result is None
    world.journal.broken = False
    assert (await red.wait_for(s.MatchOver)).result.winner == "red"
    assert isinstance(world.journal.records[-1], MatchEnded)


async def test_who_surrenders_or_leaves_meanwhile_loses_when_it_can_be_stored(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, room = await playing(world)
    await lost_after_a_move(world, red, blue)
    for _ in range(3):
        await blue.say(c.Surrender(room=room))
    await red.say(c.Leave(room=room))
    await trio.sleep(60)
    assert world.lobby.rooms[room].result is None
    world.journal.broken = False
    over = await blue.wait_for(s.MatchOver)
    assert (over.result.reason, over.result.winner) == ("surrender", "red")
    assert world.journal.kinds() == ["MatchOpened", "PlyPlayed", "MatchEnded"]
    assert (await red.wait_for(s.MatchOver)).result == over.result


async def test_who_is_cut_off_meanwhile_has_its_whole_grace_period_afterwards(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue = await world.client("ann"), await world.client("bob")
    token = (await red.join(size=4)).token
    await blue.join(size=4)
    await red.start()
    await blue.start()
    await lost_after_a_move(world, red, blue)
    await red.stream.aclose()
    await trio.sleep(600)
    world.journal.broken = False
    await blue.play_on(1)
    again = await world.client()
    await again.say(c.Rejoin(token=token))
    await again.hear(s.Joined)
    assert [turned.ply for turned in (await again.start()).plies] == [0, 1]
    await again.play_on(1)
    assert (await blue.wait_for(s.YourTurn)).ply == 3


async def test_who_comes_and_goes_a_thousand_times_meanwhile_is_still_followed(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue = await world.client("ann"), await world.client("bob")
    token = (await red.join(size=4)).token
    await blue.join(size=4)
    await red.start()
    await blue.start()
    await lost_after_a_move(world, red, blue)
    for _ in range(1000):
        await red.stream.aclose()
        red = await world.client()
        await red.say(c.Rejoin(token=token))
        await red.hear(s.Joined)
    await red.start()
    world.journal.broken = False
    await blue.play_on(1)
    await red.play_on(1)


async def test_who_comes_back_or_begins_to_watch_meanwhile_is_told(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.client("ann"), await world.client("bob")
    token = (await red.join(size=4)).token
    await blue.join(size=4)
    room = (await red.start()).room
    await blue.start()
    await lost_after_a_move(world, red, blue)
    await red.stream.aclose()
    again = await world.client()
    await again.say(c.Rejoin(token=token))
    await again.hear(s.Joined)
    started = await again.start()
    assert started.plies == [], "the ply that is not stored is not told"
    assert (await again.hear(s.Notice)).code == "storage_lost"
    watcher = await world.client()
    await watcher.say(c.Observe(room=room))
    view = (await watcher.hear(s.Observing)).view
    assert (view.info.state, view.info.storage_lost, view.plies, view.info.ply) == ("paused", True, [], 0)
    world.journal.broken = False
    for client in (again, watcher):
        assert (await client.hear(s.Notice)).code == "storage_back"
        assert (await client.hear(s.Moved)).ply == 0


async def test_an_administrator_can_end_a_match_that_waits_and_the_end_is_stored_later(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, room = await playing(world)
    admin = await (await world.client()).administer()
    await lost_after_a_move(world, red, blue)
    await admin.say(c.Cancel(room=room, reason="lunch"))
    for client in (red, blue):
        result = (await client.wait_for(s.MatchOver)).result
        assert (result.kind, result.reason) == ("aborted", "cancelled")
        assert "lunch" in result.detail.message
    assert world.journal.kinds() == ["MatchOpened"]
    await trio.sleep(600)
    world.journal.broken = False
    await trio.sleep(10)
    assert world.journal.kinds() == ["MatchOpened", "MatchEnded"]


async def test_a_server_that_stops_breaks_the_match_off_where_it_was_stored(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, room = await playing(world)
    await lost_after_a_move(world, red, blue)
    world.lobby.suspend_matches()
    await wait_all_tasks_blocked()
    world.journal.broken = False
    await trio.sleep(60)
    assert world.journal.kinds() == ["MatchOpened"]
    assert not any(isinstance(message, s.Moved | s.MatchOver) for client in (red, blue) for message in client.inbox)
    assert room not in world.lobby.rooms, "it is opened again when the server starts again"


async def test_the_end_of_a_cancelled_match_does_not_keep_the_server_from_stopping(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, room = await playing(world)
    admin = await (await world.client()).administer()
    await lost_after_a_move(world, red, blue)
    await admin.say(c.Cancel(room=room))
    await red.wait_for(s.MatchOver)
    world.lobby.suspend_matches()
    await wait_all_tasks_blocked()
    world.journal.broken = False
    await trio.sleep(60)
    assert world.journal.kinds() == ["MatchOpened"]


async def test_other_matches_are_told_of_their_own_waiting_only(world: World, autojump_clock: MockClock) -> None:
    first = await playing(world)
    second = await playing(world)
    await lost_after_a_move(world, *first[:2])
    await second[0].hear(s.YourTurn)
    assert not second[0].inbox
    world.journal.broken = False
    for client in first[:2]:
        assert (await client.hear(s.Notice)).room == first[2]


@pytest.mark.parametrize("how", ["fails", "fails after it has stored", "is silent"])
async def test_a_result_that_is_being_stored_is_not_overridden_by_an_administrator(
    world: World, how: str, autojump_clock: MockClock
) -> None:
    red, blue, room = await playing(world)
    admin = await (await world.client()).administer()
    await red.hear(s.YourTurn)
    journal, silence = world.journal, trio.Event()
    journal.broken, journal.forgetful = how != "is silent", how == "fails after it has stored"
    if how == "is silent":
        journal.silence = silence
    await blue.say(c.Surrender(room=room))
    for moment in (1.0, 10.0):  # before and after the database counts as lost
        await trio.sleep(moment)
        await admin.say(c.Cancel(room=room, reason="lunch"))
        refusal = await admin.wait_for(s.Error)
        assert refusal.code == "match_over"
        assert "has ended (surrender)" in refusal.message
        assert "waits for the storage" in refusal.message
    journal.broken = False
    silence.set()
    for client in (red, blue):
        assert (await client.wait_for(s.MatchOver)).result.reason == "surrender"
    assert [record.reason for record in journal.records if isinstance(record, MatchEnded)] == ["surrender"]


async def test_a_cancel_that_reaches_the_referee_when_the_end_is_being_stored_changes_nothing(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, room = await playing(world)
    await red.hear(s.YourTurn)
    world.journal.broken = True
    await blue.say(c.Surrender(room=room))
    await red.wait_for(s.Notice)
    world.lobby.rooms[room].put(Cancelled("an administrator cancelled the match"))
    await trio.sleep(60)
    assert world.lobby.rooms[room].result is None
    world.journal.broken = False
    assert (await red.wait_for(s.MatchOver)).result.reason == "surrender"


async def test_who_is_lost_before_the_start_could_be_stored_is_waited_for_and_told_as_lost(
    world: World, autojump_clock: MockClock
) -> None:
    world.journal.broken = True
    red, blue = await world.pair(size=4)
    await red.wait_for(s.Notice)
    await blue.stream.aclose()
    await trio.sleep(600)
    world.journal.broken = False
    await red.start()
    began = trio.current_time()
    result = (await red.wait_for(s.MatchOver)).result
    assert (result.reason, result.winner) == ("disconnected", "red")
    assert trio.current_time() - began == 30.0


@pytest.mark.parametrize("how", ["in order", "at once"])
async def test_what_waits_for_the_database_when_the_server_stops_is_left_to_the_end_of_the_journal(
    how: str, autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(grace=30.0), PATIENCE)
        red, blue, _ = await playing(world)
        await lost_after_a_move(world, red, blue)
        world.lobby.drain()
        if how == "in order":
            world.lobby.suspend_matches()
            await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert [(type(record), getattr(record, "ply", None)) for record in world.journal.left] == [(PlyPlayed, 0)]


async def test_a_ply_that_could_not_be_stored_before_the_match_was_cancelled_is_left_to_nobody(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, room = await playing(world)
    await lost_after_a_move(world, red, blue)
    world.lobby.rooms[room].put(Cancelled("cancelled by an administrator"))
    await red.wait_for(s.MatchOver)
    assert world.journal.left == []
