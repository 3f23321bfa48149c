"""How many rooms a connection may watch and administrators prepare; how many connections the system has files for."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.server import app
from triarena.server.admission import Bounds
from triarena.server.descriptors import RESERVED
from triarena.server.door import DoorRules

from .conftest import PATIENCE, Client, Log, World, house


@pytest.fixture
async def narrow(autojump_clock: MockClock) -> AsyncIterator[World]:
    async with trio.open_nursery() as nursery:
        yield World(nursery, house(observed_rooms_per_connection=2, prepared_rooms=2), PATIENCE)
        nursery.cancel_scope.cancel()


async def prepare(admin: Client) -> s.Prepared | s.Error:
    await admin.say(c.Prepare(game="towerwars", options={"size": 4}, slots=[c.Slot(), c.Slot()]))
    while not isinstance(answer := await admin._next(), s.Prepared | s.Error):
        pass
    return answer


async def test_no_more_rooms_are_watched_than_a_connection_may(narrow: World, autojump_clock: MockClock) -> None:
    admin, spectator = await (await narrow.client()).administer(), await narrow.client()
    rooms = []
    for _ in range(2):
        prepared = await prepare(admin)
        assert isinstance(prepared, s.Prepared)
        rooms.append(prepared.room)
    player = await narrow.client("ann")
    rooms.append((await player.join()).room)
    for room in rooms[:2]:
        await spectator.say(c.Observe(room=room))
        await spectator.wait_for(s.Observing)
    await spectator.say(c.Observe(room=rooms[2]))
    assert (await spectator.hear(s.Error)).code == "too_many_rooms"


async def test_watching_a_room_again_takes_no_further_place(narrow: World, autojump_clock: MockClock) -> None:
    player, spectator = await narrow.client("ann"), await narrow.client()
    room = (await player.join()).room
    for _ in range(5):
        await spectator.say(c.Observe(room=room))
        await spectator.hear(s.Observing)


async def test_a_match_that_is_over_is_not_counted(narrow: World, autojump_clock: MockClock) -> None:
    spectator = await narrow.client()
    for _ in range(5):
        red, blue = await narrow.pair(size=4)
        (room,) = [room for room in narrow.lobby.rooms.values() if room.result is None]
        await spectator.say(c.Observe(room=room.id))
        await spectator.wait_for(s.Observing)
        await red.start()
        await blue.start()
        await red.say(c.Surrender(room=room.id))
        await spectator.wait_for(s.MatchOver)
        await red.stream.aclose()
        await blue.stream.aclose()


async def test_no_more_rooms_are_prepared_than_may_wait_or_play(narrow: World, autojump_clock: MockClock) -> None:
    admin = await (await narrow.client()).administer()
    first = await prepare(admin)
    assert isinstance(first, s.Prepared)
    assert isinstance(await prepare(admin), s.Prepared)
    refused = await prepare(admin)
    assert isinstance(refused, s.Error)
    assert refused.code == "too_many_rooms"
    await (await narrow.client("ann")).join()  # others are not kept from opening rooms
    await admin.say(c.Cancel(room=first.room))
    await admin.wait_for(s.Done)
    assert isinstance(await prepare(admin), s.Prepared)


async def join(client: Client, size: int) -> str:
    await client.say(c.Join(game="towerwars", options={"size": size}))
    answer = await client._next()
    return answer.code if isinstance(answer, s.Error) else "joined"


async def test_one_address_cannot_take_all_rooms_from_the_others(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(rooms_per_address=2), PATIENCE)
        greedy = [await world.client(address=f"2001:db8::{n}") for n in range(4)]  # one network
        assert [await join(client, 4 + n) for n, client in enumerate(greedy)] == ["joined"] * 2 + ["too_many_rooms"] * 2
        assert await join(greedy[2], 4) == "joined", "an open seat takes no further room"
        assert await join(await world.client(address="2001:db8:1::1"), 9) == "joined"
        await greedy[0].start()
        await greedy[0].say(c.Surrender(room="qaaaa"))
        await greedy[0].wait_for(s.MatchOver)
        assert await join(greedy[3], 7) == "joined", "a match that is over does not count"
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("begun", [False, True])
async def test_no_room_waits_for_a_connection_that_is_over(
    world: World, begun: bool, autojump_clock: MockClock, logged: Log
) -> None:
    red, blue = await world.client("ann"), await world.client("bob")
    room = world.lobby.room((await red.join(size=4)).room)
    if begun:
        await blue.join(size=4)
        await red.start()
        await blue.start()
        await red.hear(s.YourTurn)
    guest = next(guest for guest in world.lobby.guests.values() if guest.name == "ann")
    guest.rooms.clear()  # as if it had been forgotten where it sits
    await red.stream.aclose()
    await wait_all_tasks_blocked()
    assert (room.result, room.full, "1" in world.lobby.guests) == (None, begun, False)
    world.lobby.sweep()
    await wait_all_tasks_blocked()
    assert room.result is not None
    assert room.result.reason == ("disconnected" if begun else "cancelled")
    assert "dead_connection" in logged.text


async def test_the_welcome_tells_the_limits(narrow: World, autojump_clock: MockClock) -> None:
    client = Client(narrow.raw())
    await client.say(c.Hello(protocol=1, software=""))
    limits = (await client.hear(s.Welcome)).limits
    assert (limits.rooms_per_connection, limits.observed_rooms_per_connection) == (2, 2)


@pytest.mark.parametrize(
    ("files", "connections", "warned"),
    [(None, 1000, False), (1000 + RESERVED, 1000, False), (500, 500 - RESERVED, True), (50, 16, True)],
)
def test_no_more_connections_are_let_in_than_the_system_has_files_for(
    files: int | None,
    connections: int,
    warned: bool,
    monkeypatch: pytest.MonkeyPatch,
    logged: Log,
) -> None:
    monkeypatch.setattr(app, "provide_descriptors", lambda wanted: files)
    rules = app._affordable(DoorRules(Bounds(1000, 1000, 100), PATIENCE))
    assert rules.bounds.connections == connections
    assert ("few_files" in logged.text) == warned
    assert ("ulimit -n" in logged.text) == warned
