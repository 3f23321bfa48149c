"""Coming in over real TCP: turning away is polite and bounded, nothing is left of who left, no file is no end."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
import trio

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.server import descriptors
from triarena.server.connection import Connection
from triarena.server.door import REFUSALS_AT_ONCE

from .at_the_door import Entrance, open_door
from .conftest import Client, Log

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")


async def refusal(client: Client) -> s.Refused:
    """What is said to who is turned away; then the server hangs up."""
    with trio.fail_after(5):
        refused = await client.hear(s.Refused)
        assert await client.stream.receive_some() == b""
    return refused


async def others_play(door: Entrance) -> None:
    """Two clients play to the end, whatever else goes on."""
    with trio.fail_after(10):
        red, blue = await door.greet("ann"), await door.greet("bob")
        await red.join(size=4, max_plies=2)
        await blue.join(size=4, max_plies=2)
        await red.start()
        await blue.start()
        await red.play_on(1)
        await blue.play_on(1)
        assert (await red.wait_for(s.MatchOver)).result.reason == "ply_limit"
        await red.stream.aclose()
        await blue.stream.aclose()


async def emptied(door: Entrance) -> None:
    """Wait until the server has noticed that everybody left."""
    with trio.fail_after(5):
        while door.door._admission.count or door.world.lobby.guests:  # noqa: ASYNC110 - a real server sets no event
            await trio.sleep(0.005)


async def test_who_is_one_too_many_is_told_and_let_in_when_there_is_room() -> None:
    async with open_door(connections=2) as door:
        first, _second = await door.greet(), await door.greet()
        assert (await refusal(await door.knock())).code == "server_full"
        await first.stream.aclose()
        with trio.fail_after(5):
            while door.door._admission.count == 2:  # noqa: ASYNC110 - a real server sets no event
                await trio.sleep(0.005)
        await door.greet()


async def test_the_word_arrives_also_when_the_client_has_spoken_already() -> None:
    async with open_door(per_address=1) as door:
        await door.greet()
        client = await door.knock()
        await client.stream.send_all(bytes(3000))
        refused = await refusal(client)
        assert refused.code == "address_full"
        assert "127.0.0.1" in refused.message


async def test_more_refusals_than_a_few_at_once_are_short() -> None:
    async with open_door(connections=1) as door:
        await door.greet()
        waiting = [await door.knock() for _ in range(REFUSALS_AT_ONCE + 20)]
        with trio.fail_after(5):
            while door.door._refusing < REFUSALS_AT_ONCE:  # noqa: ASYNC110 - a real server sets no event
                await trio.sleep(0.005)
        silent = 0
        for client in waiting:
            with suppress(trio.BrokenResourceError):
                silent += not await client.stream.receive_some()
        assert silent >= 10
        assert door.door._refusing <= REFUSALS_AT_ONCE


async def test_an_address_full_of_silent_connections_locks_nobody_out_who_speaks() -> None:
    async with open_door(newcomers=5) as door:
        silent = [await door.knock() for _ in range(5)]
        assert (await refusal(await door.knock())).code == "server_busy"
        for client in silent:
            await client.greet()
        await others_play(door)


@pytest.mark.skipif(sys.platform != "linux", reason="the loopback has one address elsewhere")
async def test_a_connection_of_another_address_takes_the_place_of_a_silent_one() -> None:
    async with open_door(newcomers=3) as door:
        silent = [await door.knock() for _ in range(3)]
        with trio.fail_after(5):
            while door.door._admission.count < 3:  # noqa: ASYNC110 - a real server sets no event
                await trio.sleep(0.005)
        await (await door.knock("127.0.0.2")).greet()
        assert (await refusal(silent[0])).code == "server_busy"


async def test_a_storm_of_connections_that_leave_at_once_leaves_nothing_behind() -> None:
    async with open_door(connections=1000, per_address=1000, newcomers=1000) as door:
        await others_play(door)

        async def storm(times: int) -> None:
            for n in range(times):
                client = await door.knock()
                if n % 3 == 0:
                    await client.stream.send_all(b"\x00\x00")  # half a frame
                elif n % 3 == 1:
                    await client.greet()
                await client.stream.aclose()

        async def all_storms() -> tuple[int, int]:
            async with trio.open_nursery() as nursery:
                for _ in range(10):
                    nursery.start_soon(storm, 30)
            await emptied(door)
            gc.collect()
            living = sum(isinstance(thing, Connection) for thing in gc.get_objects())
            return living, trio.lowlevel.current_statistics().tasks_living

        before = await all_storms()
        await others_play(door)
        after = await all_storms()
        assert after[1] == before[1], "no task is left"
        assert after[0] <= before[0] + 2, "no connection is kept"


@contextmanager
def no_files_left() -> Iterator[None]:
    """A process that may open no further file."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = [int(name) for name in os.listdir("/dev/fd")]
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(used) + 20, limits[1]))
    taken = []
    try:
        with suppress(OSError):
            while True:
                taken.append(os.dup(0))
        yield
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@posix
async def test_running_out_of_files_is_survived_logged_seldom_and_over_when_it_is_over(logged: Log) -> None:
    async with open_door() as door:
        inside = await door.greet()
        waiting = trio.socket.socket()
        with no_files_left():
            began = trio.current_time()
            await waiting.connect(("127.0.0.1", door.port))
            number = 0
            while trio.current_time() < began + 1.2:  # who is inside is served meanwhile
                number += 1
                await inside.say(c.Ping(number=number))
                assert await inside.stream.receive_some()
        stream = trio.SocketStream(waiting)
        door.streams.append(stream)
        client = Client(stream)
        with trio.fail_after(5):
            await client.greet()
        await others_play(door)
    told = logged.events.count("cannot_accept")
    assert 1 <= told <= 2, "once a second"


@posix
def test_the_limit_of_open_files_is_raised_as_far_as_the_system_allows() -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
        assert descriptors.provide_descriptors(200) == 256
        assert descriptors.provide_descriptors(300) == 300
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 300
        if limits[1] != resource.RLIM_INFINITY:
            assert descriptors.provide_descriptors(limits[1] + 1000) == limits[1]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
