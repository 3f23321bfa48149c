"""Pauses belong to the evidence; a step tells whom it waits for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.server.journal import MatchEnded, MatchOpened, StoredMatch
from triarena.server.recovery import resume_match

from .conftest import PATIENCE, Client, Log, World, house


@pytest.fixture
async def world(autojump_clock: MockClock) -> AsyncIterator[World]:
    async with trio.open_nursery() as nursery:
        yield World(nursery, house(grace=30.0), PATIENCE)
        nursery.cancel_scope.cancel()


async def playing(world: World) -> tuple[Client, Client, Client, str]:
    """Two players after a ply, an administrator, and the room."""
    red, blue = await world.pair(size=4)
    room = (await red.start()).room
    await blue.start()
    await red.play_on(1)
    await blue.wait_for(s.YourTurn)
    return red, blue, await (await world.client()).administer(), room


def pauses(evidence: dict[str, Any]) -> list[tuple[int, bool, str]]:
    """Before which ply, whether it has ended, and by whom."""
    return [(each["ply"], each["until"] is not None, each["by"]) for each in evidence["pauses"]]


async def test_a_match_that_ended_while_it_was_paused_is_paused_no_more(
    world: World, autojump_clock: MockClock
) -> None:
    _, blue, admin, room = await playing(world)
    await admin.tell(c.Pause(room=room))
    assert world.lobby.rooms[room].info().paused
    await blue.say(c.Surrender(room=room))
    await blue.wait_for(s.MatchOver)
    info = world.lobby.rooms[room].info()
    assert (info.state, info.paused) == ("over", False)
    late = await world.client()
    await late.say(c.Observe(room=room))
    view = (await late.hear(s.Observing)).view
    assert view is not None
    assert (view.info.state, view.info.paused) == ("over", False)


async def test_pauses_are_kept_with_the_evidence_at_once_and_at_the_end(
    world: World, autojump_clock: MockClock
) -> None:
    _, blue, admin, room = await playing(world)
    match = str(world.lobby.rooms[room].match)
    await admin.tell(c.Pause(room=room))
    await wait_all_tasks_blocked()
    assert pauses(world.journal.evidence[match]) == [(1, False, "administrator")]
    await admin.tell(c.Resume(room=room))
    await wait_all_tasks_blocked()
    assert pauses(world.journal.evidence[match]) == [(1, True, "administrator")]
    await admin.tell(c.Pause(room=room))
    await blue.say(c.Surrender(room=room))
    await blue.wait_for(s.MatchOver)
    (ended,) = [record for record in world.journal.records if isinstance(record, MatchEnded)]
    assert ended.evidence is not None
    assert pauses(dict(ended.evidence)) == [(1, True, "administrator"), (1, False, "administrator")]


async def test_observers_are_told_of_pauses_and_that_the_match_goes_on(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair(size=4)
    room = (await red.start()).room
    await blue.start()
    await red.play_on(1)
    turn = await blue.wait_for(s.YourTurn)
    admin, watcher = await (await world.client()).administer(), await world.client()
    await watcher.say(c.Observe(room=room))
    await watcher.hear(s.Observing)
    await admin.tell(c.Pause(room=room))
    info = (await watcher.hear(s.Snapshot)).view.info
    assert (info.paused, info.state, info.ply) == (True, "paused", 1)
    await blue.move(turn)
    await watcher.hear(s.Moved)
    await admin.tell(c.Resume(room=room))
    info = (await watcher.hear(s.Snapshot)).view.info
    assert (info.paused, info.state, info.ply) == (False, "running", 2)


async def test_a_pause_outlives_the_server(world: World, autojump_clock: MockClock) -> None:
    _, _, admin, room = await playing(world)
    await admin.tell(c.Pause(room=room))
    await wait_all_tasks_blocked()
    opened = world.journal.records[0]
    assert isinstance(opened, MatchOpened)
    async with trio.open_nursery() as nursery:
        after = World(nursery, house(), PATIENCE)
        evidence = world.journal.evidence[opened.match]
        resume_match(after.lobby, StoredMatch(opened, (), None, evidence=evidence))
        (again,) = after.lobby.rooms.values()
        assert again.scribe is not None
        assert pauses(again.scribe.witness.so_far()) == [(1, False, "administrator")]
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("away", ["red", "blue"])
async def test_a_step_tells_that_the_player_whose_turn_it_is_is_away(
    world: World, away: str, autojump_clock: MockClock
) -> None:
    red, blue, admin, room = await playing(world)
    await admin.tell(c.Pause(room=room))
    turn_of_blue_is_under_way = trio.current_time()
    await (red if away == "red" else blue).stream.aclose()
    await wait_all_tasks_blocked()
    await admin.say(c.Step(room=room))
    if away == "red":
        await admin.wait_for(s.Done)
    else:
        refusal = await admin.wait_for(s.Error)
        assert refusal.code == "not_started"
        assert refusal.message == f"blue is away from the match in room '{room}'; step when it is back"
    assert trio.current_time() == turn_of_blue_is_under_way


async def test_what_an_administrator_prepares_is_logged(world: World, logged: Log, autojump_clock: MockClock) -> None:
    admin = await (await world.client()).administer()
    await admin.say(c.Prepare(game="towerwars", options={"size": 4}, slots=[c.Slot(), c.Slot()]))
    room = (await admin.wait_for(s.Prepared)).room
    assert f"administrator {{'request': 'prepare', 'room': '{room}'" in logged.text


@pytest.mark.parametrize("paused", [True, False])
async def test_a_server_that_stops_counts_the_matches_it_keeps_and_calls_none_of_its_own_farewells_a_loss(
    world: World, paused: bool, logged: Log, autojump_clock: MockClock
) -> None:
    red, blue, admin, room = await playing(world)
    if paused:
        await admin.tell(c.Pause(room=room))
    world.lobby.drain()
    world.lobby.suspend_matches(only_paused=True)
    world.lobby.suspend_matches()
    await wait_all_tasks_blocked()
    assert (world.lobby.kept, world.lobby.running()) == (1, 0)
    for guest in list(world.lobby.guests.values()):
        guest.connection.close("server_stopping", "the server is stopping")
    for client in (red, blue):
        await client.wait_for(s.Goodbye)
        await client.stream.aclose()
    await wait_all_tasks_blocked()
    assert "player_lost" not in logged.events
