"""What administrators may do, and what nobody else may."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s

from .conftest import PATIENCE, SECRET, Client, World, house


async def answer(client: Client, message: c.FromClient) -> s.Done | s.Error:
    await client.say(message)
    while True:
        heard = await client._next()
        if isinstance(heard, s.Done | s.Error):
            return heard


async def test_a_wrong_secret_is_refused_and_throttled(world: World, autojump_clock: MockClock) -> None:
    client = await world.client()
    codes = []
    for _ in range(7):
        await client.say(c.Authenticate(secret="guess"))
        codes.append((await client.hear(s.Error)).code)
    assert codes == ["wrong_secret"] * 5 + ["throttled"] * 2
    await client.administer()  # the right one is never refused for what others at this address did


async def test_a_secret_that_a_person_made_up_cannot_be_tried_out(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(guessable_secret=True), PATIENCE)
        client = await world.client()
        for _ in range(5):
            await client.say(c.Authenticate(secret="guess"))
            assert (await client.hear(s.Error)).code == "wrong_secret"
        await client.say(c.Authenticate(secret=SECRET))
        assert (await client.hear(s.Error)).code == "throttled", "while it waits even the right one is not looked at"
        autojump_clock.jump(1.5)
        await client.administer()
        for _ in range(20):
            await client.say(c.Authenticate(secret="guess"))
            assert (await client.hear(s.Error)).code in ("wrong_secret", "throttled")
        await (await world.client()).administer()  # from here the right one came before
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    "message",
    [
        c.Pause(room="r"),
        c.Resume(room="r"),
        c.Step(room="r"),
        c.Cancel(room="r"),
        c.Kick(connection="1"),
        c.Prepare(game="towerwars", slots=[c.Slot(), c.Slot()]),
    ],
)
async def test_nobody_else_may(world: World, message: c.FromClient, autojump_clock: MockClock) -> None:
    client = await world.client()
    heard = await answer(client, message)
    assert isinstance(heard, s.Error)
    assert (heard.code, heard.request) == ("not_administrator", message.type)


async def test_pause_step_resume_cancel(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair(size=4)
    admin = await (await world.client()).administer()
    room = (await red.start()).room
    await blue.start()
    turn = await red.hear(s.YourTurn)

    assert isinstance(await answer(admin, c.Pause(room=room)), s.Done)
    autojump_clock.jump(1.0)
    await red.move(turn)
    await red.wait_for(s.Moved)
    autojump_clock.jump(1000.0)
    assert not blue.inbox, "the move under way was taken, and nobody is asked for another"

    assert isinstance(await answer(admin, c.Step(room=room)), s.Done)
    await blue.play_on(1)
    await red.wait_for(s.Moved)
    autojump_clock.jump(1000.0)

    assert isinstance(await answer(admin, c.Resume(room=room)), s.Done)
    await red.play_on(1)
    await blue.play_on(1)
    assert isinstance(await answer(admin, c.Cancel(room=room, reason="lunch")), s.Done)
    for client in (red, blue):
        result = (await client.wait_for(s.MatchOver)).result
        assert (result.kind, result.reason, result.winner) == ("aborted", "cancelled", None)
        assert "lunch" in result.detail.message
    heard = await answer(admin, c.Step(room=room))
    assert isinstance(heard, s.Error)
    assert heard.code == "match_over"


async def test_a_room_prepared_paused_starts_with_a_step(world: World, autojump_clock: MockClock) -> None:
    admin = await (await world.client()).administer()
    slots = [c.Slot(name="Ann"), c.Slot(name="Bob", timed=False)]
    await admin.say(c.Prepare(game="towerwars", slots=slots, paused=True))
    prepared = await admin.wait_for(s.Prepared)
    heard = await answer(admin, c.Step(room=prepared.room))
    assert isinstance(heard, s.Error)
    assert heard.code == "not_started"
    players = []
    for code in prepared.reservations:
        player = await world.client()
        await player.say(c.JoinReserved(reservation=str(code)))
        players.append(player)
        joined = await player.hear(s.Joined)
        assert joined.time_control.type == ("per_move" if joined.side == "red" else "unlimited")
    autojump_clock.jump(100)
    assert world.lobby.rooms[prepared.room].state == "waiting"
    await answer(admin, c.Step(room=prepared.room))
    for player in players:
        await player.start()
    await players[0].play_on(1)
    await players[1].wait_for(s.Moved)
    await answer(admin, c.Resume(room=prepared.room))
    await players[1].hear(s.YourTurn)
    autojump_clock.jump(500)
    assert world.lobby.rooms[prepared.room].result is None, "without a clock nobody loses on time"


async def test_administrators_are_told_what_happens(world: World, autojump_clock: MockClock) -> None:
    admin = await (await world.client()).administer()
    red, blue = await world.pair(size=4, max_plies=2)
    await red.start()
    await blue.start()
    await red.play_on(1)
    await blue.play_on(1)
    await blue.wait_for(s.MatchOver)
    events = []
    while "over" not in events:
        events.append((await admin.wait_for(s.RoomEvent)).event)
    assert events == ["opened", "joined", "joined", "started", "over"]


async def test_a_kicked_player_is_told_and_its_opponent_wins(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair()
    admin = await (await world.client()).administer()
    await red.start()
    await blue.start()
    assert isinstance(await answer(admin, c.Kick(connection="1")), s.Done)
    goodbye = await red.wait_for(s.Goodbye)
    assert goodbye.code == "kicked"
    assert "red has lost the match in room" in goodbye.message
    result = (await blue.wait_for(s.MatchOver)).result
    assert (result.reason, result.winner) == ("disconnected", "blue")
    heard = await answer(admin, c.Kick(connection="99"))
    assert isinstance(heard, s.Error)
    assert heard.code == "unknown_connection"
    named = await answer(admin, c.Kick(connection="Ann"))
    assert isinstance(named, s.Error)
    assert "the number behind a player's name in the list of rooms" in named.message


async def test_the_rooms_tell_clocks_plies_and_connections(world: World, autojump_clock: MockClock) -> None:
    red, blue = await world.pair(size=4)
    await red.start()
    await blue.start()
    turn = await red.hear(s.YourTurn)
    autojump_clock.jump(1.5)
    await red.move(turn)
    await blue.hear(s.Moved)
    other = await world.client()
    await other.say(c.ListRooms(id=1))
    (info,) = (await other.hear(s.Rooms)).rooms
    assert (info.state, info.ply, info.to_move, info.game) == ("running", 1, "blue", "towerwars")
    assert (info.red.name, info.red.connected, info.red.used_ms) == ("ann", True, 1500.0)
