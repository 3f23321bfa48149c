"""A client that sends too much is told, read more slowly, and in the end closed. Nobody else notices."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import trio
from trio.testing import MockClock

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.server.rate import BURST_SECONDS, Pace

from .conftest import PATIENCE, Client, World, house

PACE = Pace(messages=100, bytes=100_000, flood=5.0)
BURST = int(PACE.messages * BURST_SECONDS)


@pytest.fixture
async def strict(autojump_clock: MockClock) -> AsyncIterator[World]:
    """A world in which clients may send less than is usual."""
    async with trio.open_nursery() as nursery:
        yield World(nursery, house(), replace(PATIENCE, pace=PACE))
        nursery.cancel_scope.cancel()


async def ping(client: Client, times: int) -> None:
    await client.stream.send_all(client.session.send(c.Ping(number=1)) * times)


async def test_a_burst_after_a_silence_costs_nothing(strict: World, autojump_clock: MockClock) -> None:
    client = await strict.client()
    await ping(client, BURST - 10)
    await client.say(c.ListRooms())
    await client.wait_for(s.Rooms)
    assert trio.current_time() == 0


async def test_who_is_too_fast_is_told_once_and_answered_late(strict: World, autojump_clock: MockClock) -> None:
    client = await strict.client()
    for _ in range(2):
        await ping(client, BURST)
    await client.say(c.ListRooms())
    notice = await client.wait_for(s.Notice)
    assert notice.code == "slow_down"
    assert "100 messages or 100000 bytes a second" in notice.message
    await client.wait_for(s.Rooms)
    assert BURST / PACE.messages - 1 <= trio.current_time() < PACE.flood


async def test_big_messages_are_weighed(strict: World, autojump_clock: MockClock) -> None:
    client = await strict.client()
    hello = client.session.send(c.Ping(number=1))
    padding = b"\xa1x\xc5\x3a\x98" + bytes(15_000)  # a field that nobody knows
    big = (len(hello) - 4 + len(padding)).to_bytes(4, "big") + bytes([hello[4] + 1]) + hello[5:] + padding
    for _ in range(40):
        await client.stream.send_all(big)
    assert (await client.wait_for(s.Notice)).code == "slow_down"


async def test_a_flood_that_goes_on_is_closed_with_too_fast(strict: World, autojump_clock: MockClock) -> None:
    client = await strict.client()

    async def flood() -> None:
        while True:
            await ping(client, 1000)
            await trio.sleep(0.1)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(flood)
        goodbye = await client.wait_for(s.Goodbye)
        nursery.cancel_scope.cancel()
    assert goodbye.code == "too_fast"
    assert "5 s" in goodbye.message


async def test_moves_that_were_asked_for_do_not_count(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(), replace(PATIENCE, pace=Pace(messages=2, bytes=1e9, flood=5.0)))
        red, blue = await world.pair(size=6, max_plies=100)
        await red.start()
        await blue.start()
        nursery.start_soon(blue.play_on)
        over = await red.play_on()
        assert over is not None
        assert over.result.kind == "outcome"
        (room,) = world.lobby.rooms.values()
        assert room.info().ply > 2 * BURST_SECONDS * 2, "more moves than could have been counted"
        assert trio.current_time() == 0
        nursery.cancel_scope.cancel()
