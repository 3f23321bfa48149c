"""A lost connection is not a resignation: the seat is kept, the clock runs on, and the token brings it back."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.server.journal import MatchEnded, MatchOpened, PlyPlayed, StoredMatch
from triarena.server.recovery import reopen_ended, resume_match

from .conftest import PATIENCE, Client, World, house


@pytest.fixture
async def world(autojump_clock: MockClock) -> AsyncIterator[World]:
    async with trio.open_nursery() as nursery:
        yield World(nursery, house(grace=30.0), PATIENCE)
        nursery.cancel_scope.cancel()


async def back(world: World, token: str) -> tuple[Client, s.MatchStarted]:
    client = await world.client()
    await client.say(c.Rejoin(token=token, id=1))
    joined = await client.hear(s.Joined)
    assert joined.token == token
    return client, await client.start()


async def test_a_player_comes_back_in_its_own_turn_with_the_clock_still_running(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, token, _ = await world.begun()
    await red.hear(s.YourTurn)
    await red.stream.aclose()
    await trio.sleep(1.5)
    red, started = await back(world, token)
    assert (started.side, started.plies) == ("red", [])
    turn = await red.hear(s.YourTurn)
    assert turn.clock.remaining_ms == 500.0
    await red.move(turn)
    moved = await blue.wait_for(s.Moved)
    assert moved.used_ms == 1500.0


async def test_who_does_not_come_back_before_its_time_runs_out_is_disconnected_not_slow(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, _, _ = await world.begun()
    await red.hear(s.YourTurn)
    await red.stream.aclose()
    result = (await blue.wait_for(s.MatchOver)).result
    assert (result.reason, result.winner) == ("disconnected", "blue")
    assert trio.current_time() == 2.0


async def test_a_player_comes_back_in_the_others_turn_and_is_told_all_plies(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, _, token = await world.begun()
    await red.play_on(1)
    await blue.play_on(1)
    await blue.stream.aclose()
    await wait_all_tasks_blocked()
    await red.play_on(1)
    blue, started = await back(world, token)
    assert [turned.ply for turned in started.plies] == [0, 1, 2]
    assert (await blue.hear(s.YourTurn)).ply == 3


async def test_away_in_the_others_turn_for_longer_than_the_grace_is_a_forfeit(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(grace=1.0), PATIENCE)
        red, blue, _, _ = await world.begun()
        await red.hear(s.YourTurn)
        await blue.stream.aclose()
        result = (await red.hear(s.MatchOver)).result
        assert (result.reason, result.winner) == ("disconnected", "red")
        assert trio.current_time() == 1.0
        nursery.cancel_scope.cancel()


async def test_both_away_is_nobodys_win(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(grace=1.0), PATIENCE)
        red, blue, _, _ = await world.begun()
        await red.hear(s.YourTurn)
        await blue.stream.aclose()
        await trio.sleep(0.5)
        await red.stream.aclose()
        (room,) = world.lobby.rooms.values()
        await trio.sleep(1.0)
        assert room.result is not None
        assert (room.result.winner, room.result.detail.offenders) == (None, ["red", "blue"])
        nursery.cancel_scope.cancel()


async def test_a_second_connection_with_the_token_displaces_a_half_open_first(
    world: World, autojump_clock: MockClock
) -> None:
    old, blue, token, _ = await world.begun()
    stale = await old.hear(s.YourTurn)
    late = old.session.send(c.Move.model_validate({"room": stale.room, "ply": 0, "move": {"type": "nonsense"}}))
    red, _ = await back(world, token)
    turn = await red.hear(s.YourTurn)
    await old.stream.send_all(late)  # it would lose the match
    assert (await old.hear(s.Goodbye)).code == "displaced"
    await red.move(turn)
    assert (await blue.wait_for(s.Moved)).side == "red"


async def test_wrong_tokens_change_nothing_and_are_throttled(world: World, autojump_clock: MockClock) -> None:
    red, blue, _, _ = await world.begun()
    stranger = await world.client()
    codes = []
    for _ in range(6):
        await stranger.say(c.Rejoin(token="guess"))
        codes.append((await stranger.hear(s.Error)).code)
    assert codes == ["unknown_token"] * 5 + ["throttled"]
    await red.play_on(1)
    await blue.play_on(1)


async def test_a_neighbours_wrong_tokens_and_codes_keep_nobody_out_who_has_a_right_one(
    world: World, autojump_clock: MockClock
) -> None:
    red, _, token, _ = await world.begun()
    admin, stranger = await (await world.client()).administer(), await world.client()
    await admin.say(c.Prepare(game="towerwars", slots=[c.Slot(), c.Slot()]))
    code = (await admin.wait_for(s.Prepared)).reservations[0]
    codes: list[str] = []
    for n in range(20):
        await stranger.say(c.JoinReserved(reservation=f"guess{n}") if n % 2 else c.Rejoin(token=f"guess{n}"))
        codes.append((await stranger.hear(s.Error)).code)
    assert codes == ["unknown_token", "unknown_reservation"] * 2 + ["unknown_token"] + ["throttled"] * 15
    await red.stream.aclose()
    await back(world, token)
    player = await world.client()
    await player.say(c.JoinReserved(reservation=str(code)))
    await player.hear(s.Joined)


@pytest.mark.parametrize("times", [3, 200])
async def test_who_comes_back_ever_again_while_the_server_waits_for_its_database_is_no_offender(
    world: World, times: int, autojump_clock: MockClock
) -> None:
    red, blue, _, token = await world.begun()
    turn = await red.hear(s.YourTurn)
    world.journal.silence = trio.Event()
    await red.move(turn)
    for _ in range(times):
        blue, _ = await back(world, token)
    await trio.sleep(6)  # so long that the match waits
    await blue.wait_for(s.Notice)
    world.journal.silence.set()
    assert (await blue.wait_for(s.Moved)).ply == 0
    assert await blue.play_on(1) is None
    assert (await red.wait_for(s.YourTurn)).ply == 2


async def test_who_comes_back_after_the_end_is_told_the_result(world: World, autojump_clock: MockClock) -> None:
    red, blue, token, _ = await world.begun()
    room = (await red.hear(s.YourTurn)).room
    await red.stream.aclose()
    await wait_all_tasks_blocked()
    await blue.say(c.Surrender(room=room))
    await blue.wait_for(s.MatchOver)
    late = await world.client()
    await late.say(c.Rejoin(token=token))
    await late.hear(s.Joined)
    assert (await late.hear(s.MatchOver)).result.winner == "red"


async def test_that_one_player_hangs_up_after_the_end_takes_nothing_from_the_one_who_is_still_away(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, red_token, blue_token = await world.begun()
    room = (await red.hear(s.YourTurn)).room
    await blue.stream.aclose()
    await wait_all_tasks_blocked()
    await red.say(c.Surrender(room=room))
    await red.wait_for(s.MatchOver)
    await red.stream.aclose()
    await wait_all_tasks_blocked()
    for token in (blue_token, red_token, blue_token):
        late = await world.client()
        await late.say(c.Rejoin(token=token))
        await late.hear(s.Joined)
        assert (await late.hear(s.MatchOver)).result.winner == "blue"
        await late.stream.aclose()
        await wait_all_tasks_blocked()


async def test_who_was_thrown_out_may_not_come_back(world: World, autojump_clock: MockClock) -> None:
    red, blue, _, _ = await world.begun()
    admin = await (await world.client()).administer()
    await admin.say(c.Kick(connection="1"))
    result = (await blue.wait_for(s.MatchOver)).result
    assert (result.reason, result.winner) == ("disconnected", "blue")
    await red.wait_for(s.Goodbye)


async def test_a_match_goes_on_from_the_journal_after_the_server_died(world: World, autojump_clock: MockClock) -> None:
    red, blue, red_token, blue_token = await world.begun()
    for _ in range(2):
        await red.play_on(1)
        await blue.play_on(1)
    await wait_all_tasks_blocked()
    opened, *plies = world.journal.records
    assert isinstance(opened, MatchOpened)
    stored = StoredMatch(opened, tuple(p for p in plies if isinstance(p, PlyPlayed)), None)
    async with trio.open_nursery() as nursery:
        reborn = World(nursery, house(grace=30.0), PATIENCE)
        resume_match(reborn.lobby, stored)
        await trio.sleep(50)
        blue, _ = await back(reborn, blue_token)
        red, started = await back(reborn, red_token)
        assert len(started.plies) == 4
        turn = await red.hear(s.YourTurn)
        assert (turn.ply, turn.clock.remaining_ms) == (4, 2000.0), "the outage is charged to nobody"
        await red.move(turn)
        assert (await blue.hear(s.Moved)).ply == 4
        assert reborn.journal.kinds() == ["PlyPlayed"]
        nursery.cancel_scope.cancel()


async def test_who_had_not_heard_of_the_end_when_the_server_died_is_told_after_its_restart(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, token, _ = await world.begun()
    turn = await red.hear(s.YourTurn)
    await red.move(turn)
    await blue.wait_for(s.YourTurn)
    await blue.say(c.Surrender(room=turn.room))
    result = (await blue.wait_for(s.MatchOver)).result
    opened, *rest = world.journal.records
    assert isinstance(opened, MatchOpened)
    (ended,) = [record for record in rest if isinstance(record, MatchEnded)]
    stored = StoredMatch(opened, tuple(p for p in rest if isinstance(p, PlyPlayed)), ended)
    async with trio.open_nursery() as nursery:
        reborn = World(nursery, house(grace=30.0), PATIENCE)
        reopen_ended(reborn.lobby, stored)
        late = await reborn.client()
        await late.say(c.Rejoin(token=token))
        assert (await late.hear(s.Joined)).token == token
        over = await late.hear(s.MatchOver)
        assert (over.match, over.result) == (opened.match, result)
        observer = await reborn.client()
        await observer.say(c.Observe(room=turn.room))
        view = (await observer.hear(s.Observing)).view
        assert (view.info.state, view.info.ply, len(view.plies)) == ("over", 1, 1)
        assert reborn.journal.records == [], "it is told, not stored again"
        nursery.cancel_scope.cancel()


async def test_a_match_that_nobody_returns_to_is_aborted_and_nobodys_loss(
    world: World, autojump_clock: MockClock
) -> None:
    await world.begun()
    opened = world.journal.records[0]
    assert isinstance(opened, MatchOpened)
    async with trio.open_nursery() as nursery:
        reborn = World(nursery, house(), PATIENCE)
        resume_match(reborn.lobby, StoredMatch(opened, (), None))
        (room,) = reborn.lobby.rooms.values()
        await trio.sleep(61)
        assert room.result is not None
        assert (room.result.kind, room.result.reason) == ("aborted", "not_resumed")
        nursery.cancel_scope.cancel()


async def test_a_code_whose_answer_was_lost_opens_its_seat_again_in_the_match(
    world: World, autojump_clock: MockClock
) -> None:
    admin = await (await world.client()).administer()
    await admin.say(c.Prepare(game="towerwars", options={"size": 4}, slots=[c.Slot(), c.Slot()]))
    codes = [str(code) for code in (await admin.wait_for(s.Prepared)).reservations]
    red = await world.client("ann")
    await red.say(c.JoinReserved(reservation=codes[0]))
    assert (await red.hear(s.Joined)).token == codes[0]
    blue = await world.client("bob")
    await blue.say(c.JoinReserved(reservation=codes[1]))
    await red.wait_for(s.MatchStarted)  # blue has taken the last seat, and is cut before it hears of it
    await blue.stream.aclose()
    await wait_all_tasks_blocked()
    thief = await world.client("eve")
    await thief.say(c.JoinReserved(reservation=codes[0]))
    assert (await thief.hear(s.Error)).code == "reservation_used", "red is there"
    again = await world.client("bob")
    await again.say(c.JoinReserved(reservation=codes[1]))
    assert (await again.hear(s.Joined)).side == "blue"
    await again.start()
    await red.say(c.Ready(room=next(iter(world.lobby.rooms))))
    await red.play_on(1)
    await again.play_on(1)


async def test_a_player_cannot_take_the_other_seat_of_its_room_and_costs_nobody_anything_by_trying(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, red_token, _ = await world.begun()
    await blue.say(c.Rejoin(token=red_token))
    assert (await blue.hear(s.Error)).code == "already_in_room"
    await red.play_on(1)
    await blue.play_on(1)
    await red.play_on(1)
