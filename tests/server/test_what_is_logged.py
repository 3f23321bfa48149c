"""What the log tells of ordinary life, at the level that is usual: enough to follow an evening, and no flood."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.server.journal import MatchOpened, PlyPlayed, StoredMatch
from triarena.server.recovery import Remains, recover
from triarena.server.seldom import KINDS, SECONDS, Seldom

from .conftest import PATIENCE, Client, Log, World, house


@pytest.fixture
async def world(autojump_clock: MockClock) -> AsyncIterator[World]:
    async with trio.open_nursery() as nursery:
        yield World(nursery, house(grace=30.0), PATIENCE)
        nursery.cancel_scope.cancel()


async def seated(world: World) -> tuple[Client, Client, str, str]:
    """Two clients in a match, red's token, and the room."""
    red, blue = await world.client("ann"), await world.client("bob")
    joined = await red.join(size=4)
    await blue.join(size=4)
    await red.start()
    await blue.start()
    return red, blue, joined.token, joined.room


def line(log: Log, event: str) -> str:
    (found,) = [told for told in log.text.splitlines() if told.startswith(f"{event} ")]
    return found


async def test_a_match_is_told_from_its_start_to_its_end(world: World, logged: Log, autojump_clock: MockClock) -> None:
    red, blue, _, room = await seated(world)
    for word in (room, "towerwars", "ann", "bob"):
        assert word in line(logged, "match_started")
    await red.say(c.Surrender(room=room))
    await blue.wait_for(s.MatchOver)
    assert "surrender" in line(logged, "match_over")


async def test_lost_connections_returns_and_displacements_are_told_without_tokens(
    world: World, logged: Log, autojump_clock: MockClock
) -> None:
    red, _, token, room = await seated(world)
    await red.stream.aclose()
    await wait_all_tasks_blocked()
    lost = line(logged, "player_lost")
    for word in (room, "red", "ann", "the client closed the connection"):
        assert word in lost
    for _ in range(2):
        again = await world.client()
        await again.say(c.Rejoin(token=token))
        await again.hear(s.Joined)
    await wait_all_tasks_blocked()
    assert logged.events.count("player_back") == 2
    displaced = line(logged, "player_displaced")
    for word in (room, "'ann'", "'connection': '3', 'by': '4', 'address': '127.0.0.1'"):
        assert word in displaced
    assert logged.events.count("player_lost") == 1, "who was displaced is not lost"
    assert token not in logged.text


async def test_what_administrators_do_is_told_with_where_they_are(
    world: World, logged: Log, autojump_clock: MockClock
) -> None:
    *_, room = await seated(world)
    admin = await (await world.client()).administer()
    for message in (c.Pause(room=room), c.Resume(room=room), c.Cancel(room=room, reason="fire drill")):
        await admin.say(message)
        await admin.wait_for(s.Done)
    told = [told for told in logged.text.splitlines() if told.startswith("administrator ")]
    for request, one in zip(("pause", "resume", "cancel"), told, strict=True):
        assert f"'request': '{request}'" in one
        assert room in one
        assert "127.0.0.1" in one
    assert "fire drill" in told[2]


async def test_refusals_of_one_kind_are_told_once_in_some_seconds_with_their_number(
    world: World, logged: Log, autojump_clock: MockClock
) -> None:
    for _ in range(50):
        client = Client(world.raw())
        await client.say(c.Hello(protocol=99, software="test 1"))
        await client.hear(s.Refused)
    assert logged.events.count("refused") == 1
    await trio.sleep(SECONDS)
    client = Client(world.raw())
    await client.say(c.Hello(protocol=99, software="test 1"))
    await client.hear(s.Refused)
    assert logged.events.count("refused") == 2
    assert "'times': 50" in logged.text


async def test_every_kind_has_a_count_of_its_own_and_few_are_remembered(autojump_clock: MockClock) -> None:
    seldom = Seldom()
    assert [seldom("full"), seldom("full"), seldom("busy"), seldom("full")] == [1, 0, 1, 0]
    await trio.sleep(SECONDS)
    assert (seldom("full"), seldom("busy")) == (3, 1)
    for number in range(10 * KINDS):
        seldom(str(number))
        seldom(str(number))
    assert max(len(seldom._counts), len(seldom._next)) <= KINDS


async def test_a_start_after_a_crash_says_what_is_there_again_in_words(
    world: World, logged: Log, autojump_clock: MockClock
) -> None:
    red, *_ = await seated(world)
    await red.play_on(1)
    await wait_all_tasks_blocked()
    opened, *plies = world.journal.records
    assert isinstance(opened, MatchOpened)
    match = StoredMatch(opened, tuple(ply for ply in plies if isinstance(ply, PlyPlayed)), None)
    async with trio.open_nursery() as nursery:
        reborn = World(nursery, house(), PATIENCE)
        await recover(reborn.lobby, Remains((match,), (), ()))
        told = line(logged, "recovered")
        assert "'matches_resumed': 1, 'matches_not_resumed': 0, 'prepared_rooms_reopened': 0" in told
        assert "have 60 s to come back with their tokens" in told
        nursery.cancel_scope.cancel()
