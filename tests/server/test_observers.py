"""Observers see everything that is public, and never slow a match."""

from __future__ import annotations

from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s

from .conftest import World


async def test_an_observer_follows_a_match_from_its_start(world: World, autojump_clock: MockClock) -> None:
    red = await world.client("ann")
    room = (await red.join(size=4, max_plies=2)).room
    watcher = await world.client()
    await watcher.say(c.Observe(room=room, id=5))
    observing = await watcher.hear(s.Observing)
    assert (observing.view.info.state, observing.view.position, observing.id) == ("waiting", None, 5)
    blue = await world.client("bob")
    await blue.join(size=4, max_plies=2)
    snapshot = await watcher.hear(s.Snapshot)
    assert snapshot.view.position is not None
    await red.start()
    await blue.start()
    await red.play_on(1)
    await blue.play_on(1)
    for ply, side in enumerate(("red", "blue")):
        moved = await watcher.hear(s.Moved)
        assert (moved.ply, moved.side) == (ply, side)
        assert moved.position is not None
    assert (await watcher.hear(s.MatchOver)).result.reason == "ply_limit"


async def test_a_late_observer_gets_all_plies(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair(size=4)
    room = (await red.start()).room
    await blue.start()
    for _ in range(2):
        await red.play_on(1)
        await blue.play_on(1)
    await wait_all_tasks_blocked()
    watcher = await world.client()
    await watcher.say(c.Observe(room=room))
    view = (await watcher.hear(s.Observing)).view
    assert [turned.ply for turned in view.plies] == [0, 1, 2, 3]
    assert (view.info.ply, view.info.observers) == (4, 0)


async def test_players_get_no_position_with_moved_and_can_do_without(world: World, autojump_clock: MockClock) -> None:
    red = await world.client("ann")
    await red.say(c.Join(game="towerwars", updates="moves"))
    await red.hear(s.Joined)
    blue = await world.client("bob")
    await blue.join()
    await red.start()
    await blue.start()
    assert (await red.hear(s.YourTurn)).position is None


async def test_a_lagging_observer_gets_one_snapshot_instead(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair(size=4)
    room = (await red.start()).room
    await blue.start()
    watcher = await world.client()
    await watcher.say(c.Observe(room=room))
    await watcher.hear(s.Observing)
    place = world.lobby.rooms[room]
    watch = place.watches[0]
    watch.lagging = True
    await red.play_on(1)
    await blue.wait_for(s.YourTurn)
    assert watch.lagging, "what it is too slow for is not queued"
    place.drained(watch.line)
    snapshot = await watcher.hear(s.Snapshot)
    assert len(snapshot.view.plies) == 1
    assert not watch.lagging


async def test_observers_are_bounded_and_players_need_not_observe(world: World, autojump_clock: MockClock) -> None:
    red = await world.client("ann")
    room = (await red.join()).room
    await red.say(c.Observe(room=room))
    assert (await red.hear(s.Error)).code == "already_in_room"
    for _ in range(3):
        watcher = await world.client()
        await watcher.say(c.Observe(room=room))
        await watcher.hear(s.Observing)
    fourth = await world.client()
    await fourth.say(c.Observe(room=room))
    assert (await fourth.hear(s.Error)).code == "too_many_observers"


async def test_after_the_end_the_result_can_still_be_seen(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair()
    room = (await red.start()).room
    await blue.start()
    await blue.say(c.Surrender(room=room))
    result = (await red.wait_for(s.MatchOver)).result
    assert (result.reason, result.winner) == ("surrender", "red"), "also in the other side's turn"
    watcher = await world.client()
    await watcher.say(c.Observe(room=room))
    assert (await watcher.hear(s.Observing)).view.result == result
    autojump_clock.jump(61)
    world.lobby.sweep()
    await watcher.say(c.Observe(room=room))
    assert (await watcher.hear(s.Error)).code == "unknown_room"
