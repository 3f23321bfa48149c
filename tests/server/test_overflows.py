"""A client whose queue overflows, at the worst moment: it costs nobody else anything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.session import REMEMBERED

from .conftest import PATIENCE, Client, World, house


@pytest.fixture
async def world(autojump_clock: MockClock) -> AsyncIterator[World]:
    async with trio.open_nursery() as nursery:
        yield World(nursery, house(), replace(PATIENCE, queue_bytes=1 << 16))
        nursery.cancel_scope.cancel()


def nearly_full(world: World, name: str) -> None:
    """Let the queue of a client be so full that the next message is too much."""
    guest = next(guest for guest in world.lobby.guests.values() if guest.name == name)
    guest.connection._outbox.size = (1 << 16) - 1


async def test_a_stop_survives_a_client_that_overflows_while_its_room_is_closed(
    world: World, autojump_clock: MockClock
) -> None:
    waiting = await world.client("waiting")
    await waiting.join(size=5)
    red, blue = await world.pair(size=4)
    await red.start()
    await blue.start()
    nearly_full(world, "waiting")
    world.lobby.drain()
    await wait_all_tasks_blocked()
    assert [room.terms.options["size"] for room in world.lobby.rooms.values()] == [4]
    await red.play_on(1)
    await blue.play_on(1)


async def test_an_administrator_is_answered_when_the_room_it_cancels_overflows(
    world: World, autojump_clock: MockClock
) -> None:
    waiting = await world.client("waiting")
    room = (await waiting.join(size=5)).room
    admin = await (await world.client()).administer()
    nearly_full(world, "waiting")
    await admin.say(c.Cancel(room=room))
    await admin.wait_for(s.Done)
    await wait_all_tasks_blocked()
    assert world.lobby.rooms == {}


@pytest.mark.parametrize("victim", [0, 1, 2])
async def test_an_observer_that_overflows_takes_no_news_from_the_others(
    world: World, victim: int, autojump_clock: MockClock
) -> None:
    red, blue = await world.pair(size=4, max_plies=2)
    room = (await red.start()).room
    await blue.start()
    watchers: list[Client] = []
    for number in range(3):
        watcher = await world.client(f"watcher{number}")
        await watcher.say(c.Observe(room=room))
        await watcher.hear(s.Observing)
        watchers.append(watcher)
    nearly_full(world, f"watcher{victim}")
    await red.play_on(1)
    await blue.play_on(1)
    for number, watcher in enumerate(watchers):
        if number != victim:
            assert [(await watcher.hear(s.Moved)).ply for _ in range(2)] == [0, 1]
            await watcher.hear(s.MatchOver)


async def test_a_connection_lives_through_more_matches_than_a_session_remembers(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue = await world.client("ann"), await world.client("bob")
    rooms = set()
    for _ in range(REMEMBERED + 10):
        rooms.add((await red.join(size=4)).room)
        room = (await blue.join(size=4)).room
        await red.wait_for(s.MatchStarted)
        await blue.wait_for(s.MatchStarted)
        await red.say(c.Surrender(room=room))
        for client in (red, blue):
            await client.wait_for(s.MatchOver)
        world.lobby.sweep(everything_over=True)
    assert len(rooms) == REMEMBERED + 10, "no name is given twice"
    for guest in world.lobby.guests.values():
        assert len(guest.watching) == 0


async def test_a_match_that_is_over_keeps_no_more_than_what_is_told_of_it(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue = await world.pair(size=4, max_plies=2)
    room = (await red.start()).room
    await blue.start()
    await red.play_on(1)
    await blue.play_on(1)
    await red.wait_for(s.MatchOver)
    await wait_all_tasks_blocked()
    assert world.lobby.rooms[room].referee is None
    late = await world.client()
    await late.say(c.Observe(room=room))
    view = (await late.hear(s.Observing)).view
    assert [turned.ply for turned in view.plies] == [0, 1]
    assert view.result is not None
    assert view.info.ply == 2


async def test_who_watches_the_first_open_room_sits_down_in_the_next(world: World, autojump_clock: MockClock) -> None:
    host, guest = await world.client("host"), await world.client("guest")
    room = (await host.join(size=4)).room
    await guest.say(c.Observe(room=room))
    await guest.hear(s.Observing)
    assert (await guest.join(size=4)).room != room


async def test_the_clock_of_a_turn_does_not_wait_for_a_client_that_reads_nothing(
    autojump_clock: MockClock,
) -> None:
    """It lets answers pile up, so that ``your_turn`` can't be handed over, thinks, and reads then."""
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(), PATIENCE)
        red, blue = await world.pair(size=4)
        await red.start()
        await blue.start()
        guest = next(guest for guest in world.lobby.guests.values() if guest.name == "bob")
        guest.connection._outbox._writing_since = trio.current_time() - 1.0  # a write has been waiting for its reader
        await red.play_on(1)
        turn = await blue.wait_for(s.YourTurn)
        guest.connection._outbox._writing_since = None
        await trio.sleep(1.5)
        await blue.move(turn)
        assert (await blue.wait_for(s.Moved)).used_ms == 1500.0
        nursery.cancel_scope.cancel()


async def test_a_write_that_waits_for_the_servers_own_loop_starts_no_clock_early(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(), PATIENCE)
        red, blue = await world.pair(size=4)
        await red.start()
        await blue.start()
        guest = next(guest for guest in world.lobby.guests.values() if guest.name == "bob")
        guest.connection._outbox._writing_since = trio.current_time() - 1.0
        guest.connection._outbox._lag_since = lambda moment: 0.6  # the loop was as late, there and back
        stamped: list[float] = []
        guest.connection.post(c.Ping(), stamped.append)
        assert stamped == [], "it is stamped when it has been written"
        await wait_all_tasks_blocked()
        assert stamped == [trio.current_time()]
        nursery.cancel_scope.cancel()


async def test_a_paused_match_does_not_hold_up_a_stop(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair(size=4)
    room = (await red.start()).room
    await blue.start()
    admin = await (await world.client()).administer()
    await admin.say(c.Pause(room=room))
    await admin.wait_for(s.Done)
    await red.play_on(1)
    world.lobby.drain()
    world.lobby.suspend_matches(only_paused=True)
    with trio.fail_after(1):
        await world.lobby.matches_ended()


async def test_who_is_cut_off_for_not_reading_finds_the_reason_when_it_reads(
    world: World, autojump_clock: MockClock
) -> None:
    client = await world.client("ann")
    guest = next(guest for guest in world.lobby.guests.values() if guest.name == "ann")
    for number in range(1 << 16):
        guest.connection.post(s.Notice(code="slow_down", message=f"{number}" * 100))
        if guest.connection._closing:
            break
    goodbye = await client.wait_for(s.Goodbye)
    assert (goodbye.code, number > 50) == ("stalled", True)
    assert guest.connection.loss.reason == "stalled"
    assert guest.connection._outbox.size == 0


async def test_a_player_that_was_cut_off_for_not_reading_may_come_back(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(grace=30.0), replace(PATIENCE, queue_bytes=1 << 16))
        red, blue = await world.client("ann"), await world.client("bob")
        token = (await red.join(size=4)).token
        await blue.join(size=4)
        await red.start()
        await blue.start()
        turn = await red.hear(s.YourTurn)
        nearly_full(world, "bob")
        nearly_full(world, "ann")
        await red.move(turn)
        assert (await red.hear(s.Goodbye)).code == "stalled"
        again = await world.client()
        await again.say(c.Rejoin(token=token))
        await again.hear(s.Joined)
        assert [turned.ply for turned in (await again.start()).plies] == [0]
        nursery.cancel_scope.cancel()
