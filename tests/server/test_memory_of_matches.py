"""What a match has used is given back by reference counts alone: the server seldom lets the collector run."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.server.connection import Connection
from triarena.server.gallery import Gallery
from triarena.server.guest import Guest
from triarena.server.match import Referee
from triarena.server.room import Room
from triarena.server.seat import Seat

from .conftest import World


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def count(kind: type) -> int:
    return sum(type(each) is kind for each in gc.get_objects())


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("watched", [False, True])
async def test_nothing_of_a_match_outlives_its_room_and_its_connections(
    world: World, watched: bool, autojump_clock: MockClock
) -> None:
    kinds = (Room, Seat, Gallery, Referee, Guest, Connection)
    before = {kind: count(kind) for kind in kinds}
    red, blue = await world.pair(size=4)
    room = (await red.start()).room
    await blue.start()
    clients = [red, blue]
    if watched:
        clients.append(await world.client())
        await clients[-1].say(c.Observe(room=room))
    await red.play_on(1)
    await blue.say(c.Surrender(room=room))
    await red.wait_for(s.MatchOver)
    for client in clients:
        await client.stream.aclose()
    await wait_all_tasks_blocked()
    assert count(Room) > before[Room]
    world.lobby.sweep(everything_over=True)
    await trio.sleep(1)  # observers are told with pauses
    del red, blue, client, clients
    left = {kind.__name__: count(kind) - before[kind] for kind in kinds}
    assert not any(left.values()), left
