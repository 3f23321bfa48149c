"""How long who is away may stay away: nobody is waited for in a paused match, and what is said of it at last."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.server.journal import MatchOpened, StoredMatch
from triarena.server.recovery import resume_match

from .conftest import PATIENCE, Client, World, house


@pytest.fixture
async def world(autojump_clock: MockClock) -> AsyncIterator[World]:
    async with trio.open_nursery() as nursery:
        yield World(nursery, house(grace=30.0), PATIENCE)
        nursery.cancel_scope.cancel()


async def pause_before_red(world: World) -> tuple[Client, Client, Client, str, str]:
    """A match that is paused at the border before red's second ply."""
    red, blue = await world.client("ann"), await world.client("bob")
    joined = await red.join(size=4)
    await blue.join(size=4)
    await red.start()
    await blue.start()
    await red.play_on(1)
    admin = await (await world.client()).administer()
    await admin.tell(c.Pause(room=joined.room))
    await blue.play_on(1)
    await wait_all_tasks_blocked()
    return red, blue, admin, joined.token, joined.room


async def test_who_is_cut_off_in_a_paused_match_loses_nothing_however_long_it_takes(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, admin, token, room = await pause_before_red(world)
    await red.stream.aclose()
    await trio.sleep(3600)
    assert world.lobby.rooms[room].result is None
    red = await world.back(token)
    await admin.tell(c.Resume(room=room))
    await red.play_on(1)
    await blue.play_on(1)


async def test_who_is_away_when_a_match_goes_on_has_all_of_its_grace_and_its_clock_stands(
    world: World, autojump_clock: MockClock
) -> None:
    red, _, admin, token, room = await pause_before_red(world)
    await red.stream.aclose()
    await trio.sleep(29)
    await admin.tell(c.Resume(room=room))
    await trio.sleep(29)
    red = await world.back(token)
    assert (await red.hear(s.YourTurn)).clock.remaining_ms == 2000.0


async def test_who_does_not_come_back_to_a_match_that_goes_on_loses_and_is_told_the_grace_period(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, admin, _, room = await pause_before_red(world)
    await red.stream.aclose()
    await trio.sleep(600)
    resumed = trio.current_time()
    await admin.tell(c.Resume(room=room))
    result = (await blue.wait_for(s.MatchOver)).result
    assert (result.reason, result.winner) == ("disconnected", "blue")
    assert "did not come back within 30 s" in result.detail.message
    assert trio.current_time() - resumed == 30.0


async def test_a_step_does_not_let_the_grace_period_run(world: World, autojump_clock: MockClock) -> None:
    red, blue, admin, _, room = await pause_before_red(world)
    await admin.tell(c.Step(room=room))
    await blue.stream.aclose()
    await wait_all_tasks_blocked()
    await red.play_on(1)
    await trio.sleep(3600)
    assert world.lobby.rooms[room].result is None


async def test_the_time_to_get_ready_does_not_run_while_paused(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair(size=4)
    room = (await red.start()).room
    admin = await (await world.client()).administer()
    await admin.tell(c.Pause(room=room))
    await trio.sleep(600)
    await admin.tell(c.Resume(room=room))
    await trio.sleep(29)
    await blue.start()
    await red.play_on(1)


async def test_of_both_away_the_sentence_tells_what_became_of_each(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(grace=1.0), PATIENCE)
        red, blue = await world.pair(size=4)
        room = (await red.start()).room
        await blue.start()
        await red.hear(s.YourTurn)
        await blue.stream.aclose()
        await trio.sleep(0.5)
        await red.stream.aclose()
        await trio.sleep(1.0)
        result = world.lobby.rooms[room].result
        assert result is not None
        assert (result.winner, result.detail.offenders) == (None, ["red", "blue"])
        assert result.detail.message == (
            "both sides are away: blue is gone: the client closed the connection, and it did not come back within 1 s; "
            "red is gone: the client closed the connection"
        )
        nursery.cancel_scope.cancel()


async def test_a_list_of_rooms_tells_whom_a_match_waits_for_and_for_how_long(
    world: World, autojump_clock: MockClock
) -> None:
    red, _, admin, _, room = await pause_before_red(world)

    async def awaited() -> tuple[float | None, float | None]:
        await trio.sleep(1)  # a list is a moment old
        await admin.say(c.ListRooms())
        (info,) = (await admin.wait_for(s.Rooms)).rooms
        return info.red.awaited_ms, info.blue.awaited_ms

    await red.stream.aclose()
    assert await awaited() == (None, None), "paused"
    await admin.tell(c.Resume(room=room))
    assert await awaited() == (29_000.0, None)
    await trio.sleep(30)
    assert await awaited() == (None, None), "over"


async def test_a_match_that_is_opened_again_tells_that_it_waits_for_both(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(), PATIENCE)
        red, blue = await world.pair(size=4)
        await red.start()
        await blue.start()
        (opened,) = world.journal.records
        assert isinstance(opened, MatchOpened)
        reborn = World(nursery, house(resume=60.0), PATIENCE)
        resume_match(reborn.lobby, StoredMatch(opened, (), None))
        await trio.sleep(10)
        (room,) = reborn.lobby.rooms.values()
        info = room.info()
        assert (info.state, info.red.awaited_ms, info.blue.awaited_ms) == ("running", 50_000.0, 50_000.0)
        nursery.cancel_scope.cancel()
