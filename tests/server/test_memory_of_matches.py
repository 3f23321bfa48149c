"""What a match has used is given back by reference counts alone: the server seldom lets the collector run."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import suppress
from xml.parsers import expat

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
from triarena.server.socha.reading import XmlReader
from triarena.server.socha.session import XmlSession

from .conftest import World
from .xml_clients import XmlWorld, xml_world


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


XML = {
    "unfinished": "<protocol><join",
    "large and unfinished": f"<protocol><join gameType='{'x' * 10_000}'",
    "ended": "<protocol></protocol>",
    "waiting for an opponent": "<protocol><join gameType='swc_2024_mississippi_queen'/>",
    "unknown element": "<protocol><nothing/>",
    "no root": "<join gameType='swc_2024_mississippi_queen'/>",
    "document type": "<!DOCTYPE p [<!ENTITY a 'b'>]><protocol>",
    "too deep": "<protocol>" + "<join>" * 20,
    "too large": f"<protocol><join gameType='{'x' * 20_000}'",
    "not well-formed": "<protocol></nothing>",
    "no XML": "GET / HTTP/1.1\r\n\r\n",
}


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("said", XML.values(), ids=XML)
async def test_nothing_of_an_xml_connection_outlives_it(said: str, autojump_clock: MockClock) -> None:
    kinds = (XmlReader, XmlSession, Guest, Connection, type(expat.ParserCreate()))
    async with xml_world() as world:
        await _say_and_hang_up(world, said)
        before = {kind: count(kind) for kind in kinds}
        for _ in range(3):
            await _say_and_hang_up(world, said)
        left = {kind.__name__: count(kind) - before[kind] for kind in kinds}
    assert not any(left.values()), left
    gc.collect()


async def _say_and_hang_up(world: XmlWorld, said: str) -> None:
    client = world.xml()
    with suppress(trio.BrokenResourceError):
        await client.stream.send_all(said.encode())
    await wait_all_tasks_blocked()
    await client.stream.aclose()
    await trio.sleep(30)
