"""Who is blamed when somebody is away, when a match begins or goes on, and what of a side's time runs meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial

import pytest
import trio
from trio.testing import MockClock, memory_stream_pair, wait_all_tasks_blocked

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.server.connection import Connection
from triarena.server.journal import MatchOpened, PlyPlayed, StoredMatch
from triarena.server.recovery import resume_match

from .conftest import PATIENCE, Client, World, house

STARTUP, GRACE, RESUME = 30.0, 5.0, 60.0
MakeWorld = Callable[[], World]


@pytest.fixture
async def worlds(autojump_clock: MockClock) -> AsyncIterator[MakeWorld]:
    async with trio.open_nursery() as nursery:
        yield partial(World, nursery, house(startup=STARTUP, grace=GRACE, resume=RESUME), PATIENCE)
        nursery.cancel_scope.cancel()


@pytest.fixture
def world(worlds: MakeWorld) -> World:
    return worlds()


async def seated(world: World) -> tuple[Client, Client, str, str]:
    """Two clients that have been told their match, and their tokens."""
    red, blue = await world.client("ann"), await world.client("bob")
    tokens = (await red.join(size=4)).token, (await blue.join(size=4)).token
    return red, blue, *tokens


async def begun(world: World) -> tuple[Client, Client, str, str]:
    """The same, when red is to move."""
    red, blue, *_ = clients = await seated(world)
    await red.start()
    await blue.start()
    return clients


async def back(world: World, token: str, *, ready: bool = True) -> Client:
    client = await world.client()
    await client.say(c.Rejoin(token=token))
    await client.hear(s.Joined)
    if ready:
        await client.start()
    return client


async def cut(client: Client) -> None:
    await client.stream.aclose()
    await wait_all_tasks_blocked()


async def reborn(world: World, worlds: MakeWorld) -> World:
    """The server after its death, with what was stored."""
    await wait_all_tasks_blocked()
    opened, *rest = world.journal.records
    assert isinstance(opened, MatchOpened)
    after = worlds()
    resume_match(after.lobby, StoredMatch(opened, tuple(r for r in rest if isinstance(r, PlyPlayed)), None))
    return after


# -- who is to blame ---------------------------------------------------------------------------


async def test_who_gets_ready_in_time_is_not_blamed_for_the_others_absence(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, *_ = await seated(world)
    await cut(red)
    result = (await blue.wait_for(s.MatchOver)).result
    assert (result.reason, result.winner, result.detail.offenders) == ("disconnected", "blue", ["red"])
    assert trio.current_time() == GRACE


async def test_who_never_gets_ready_is_alone_to_blame_beside_one_that_came_back_and_still_has_time(
    world: World, autojump_clock: MockClock
) -> None:
    red, _, token, _ = await seated(world)
    await trio.sleep(STARTUP - 3)
    await cut(red)
    await trio.sleep(2)
    red = await back(world, token, ready=False)
    result = (await red.wait_for(s.MatchOver)).result
    assert (result.reason, result.detail.offenders) == ("no_show", ["blue"])


async def test_both_that_never_get_ready_are_to_blame(world: World, autojump_clock: MockClock) -> None:
    red, *_ = await seated(world)
    result = (await red.wait_for(s.MatchOver)).result
    assert (result.reason, result.winner, result.detail.offenders) == ("no_show", None, ["red", "blue"])


# -- after a restart ---------------------------------------------------------------------------


@pytest.mark.parametrize("ready", [True, False])
async def test_who_comes_back_after_a_restart_and_is_cut_off_again_does_not_lose_to_one_who_is_not_there(
    world: World, worlds: MakeWorld, ready: bool, autojump_clock: MockClock
) -> None:
    _, _, token, other = await begun(world)
    after = await reborn(world, worlds)
    await cut(await back(after, token, ready=ready))
    await trio.sleep(3 * GRACE)
    blue = await back(after, other)
    red = await back(after, token)
    assert (await red.hear(s.YourTurn)).clock.remaining_ms == 2000.0
    await red.play_on(0)
    await blue.say(c.Surrender(room=next(iter(after.lobby.rooms))))
    assert (await red.wait_for(s.MatchOver)).result.winner == "red"


async def test_nobody_is_asked_after_a_restart_before_both_are_back(
    world: World, worlds: MakeWorld, autojump_clock: MockClock
) -> None:
    _, _, token, other = await begun(world)
    after = await reborn(world, worlds)
    red = await back(after, token)
    await trio.sleep(RESUME / 2)
    assert not red.inbox
    await back(after, other)
    assert (await red.hear(s.YourTurn)).clock.remaining_ms == 2000.0


@pytest.mark.parametrize("drops", [True, False])
async def test_who_waits_in_vain_after_a_restart_is_told_that_it_is_nobodys_loss(
    world: World, worlds: MakeWorld, drops: bool, autojump_clock: MockClock
) -> None:
    _, _, token, _ = await begun(world)
    after, began = await reborn(world, worlds), trio.current_time()
    red = await back(after, token)
    if drops:
        await trio.sleep(10)
        await cut(red)
        await trio.sleep(20)
        red = await back(after, token)
    result = (await red.wait_for(s.MatchOver)).result
    assert (result.kind, result.reason, result.detail.offenders) == ("aborted", "not_resumed", [])
    assert trio.current_time() - began == RESUME


@pytest.mark.parametrize("drops", [True, False])
async def test_all_that_are_not_there_after_a_restart_are_named(
    world: World, worlds: MakeWorld, drops: bool, autojump_clock: MockClock
) -> None:
    _, _, token, _ = await begun(world)
    after = await reborn(world, worlds)
    (room,) = after.lobby.rooms.values()
    if drops:
        await cut(await back(after, token))
    await trio.sleep(RESUME + 1)
    result = room.result
    assert result is not None
    assert (result.kind, result.reason, result.detail.offenders) == ("aborted", "not_resumed", [])
    absences = ["blue has not come back since the server was started again", "red"]
    assert result.detail.message.startswith("both sides are away: ")
    assert all(absence in result.detail.message for absence in absences)
    assert ("red has not come back" in result.detail.message) is not drops


async def test_an_outcome_that_was_not_stored_when_the_server_died_waits_for_nobody(
    world: World, worlds: MakeWorld, autojump_clock: MockClock
) -> None:
    red, blue = await world.client("ann"), await world.client("bob")
    await red.join(size=4, max_plies=1)
    await blue.join(size=4, max_plies=1)
    await red.start()
    await blue.start()
    await red.play_on()
    after = await reborn(world, worlds)
    await wait_all_tasks_blocked()
    (room,) = after.lobby.rooms.values()
    assert room.result is not None
    assert room.result.reason == "ply_limit"


# -- coming back again and again ---------------------------------------------------------------


async def test_who_never_says_ready_holds_no_beginning_up_by_coming_back(
    world: World, autojump_clock: MockClock
) -> None:
    red, _, _, token = await seated(world)
    await red.start()
    for _ in range(3):
        await trio.sleep(9)
        await back(world, token, ready=False)
    result = (await red.wait_for(s.MatchOver)).result
    assert (result.reason, result.winner) == ("no_show", "red")
    assert trio.current_time() == STARTUP


async def test_nor_by_being_cut_off_again_and_again(world: World, autojump_clock: MockClock) -> None:
    red, blue, _, token = await seated(world)
    await red.start()
    with trio.move_on_after(10 * STARTUP):
        while True:
            await trio.sleep(4)
            await cut(blue)
            await trio.sleep(4)
            if world.lobby.rooms[next(iter(world.lobby.rooms))].result is not None:
                break
            blue = await back(world, token, ready=False)
    assert (await red.wait_for(s.MatchOver)).result.winner == "red"
    assert trio.current_time() <= STARTUP + 2 * GRACE


async def test_nor_a_match_that_has_begun(world: World, autojump_clock: MockClock) -> None:
    red, blue, _, token = await begun(world)
    room = world.lobby.rooms[next(iter(world.lobby.rooms))]
    turn = await red.hear(s.YourTurn)
    room.gate.paused = True
    await red.move(turn)  # so that blue is cut off in a pause, and its clock stands still
    await cut(blue)
    await trio.sleep(100)
    room.gate.paused = False
    await back(world, token, ready=False)
    for _ in range(10):
        await trio.sleep(9)
        if room.result is None:
            await back(world, token, ready=False)
    assert room.result is not None
    assert (room.result.reason, room.result.winner) == ("no_show", "red")


async def test_who_comes_back_while_the_start_is_being_stored_is_told_it_once(
    world: World, autojump_clock: MockClock
) -> None:
    silence = world.journal.silence = trio.Event()
    red, _, _, token = await seated(world)
    blue = await back(world, token, ready=False)
    silence.set()
    await red.start()
    await blue.start()
    await red.play_on(1)
    assert (await blue.wait_for(s.YourTurn)).ply == 1
    assert not any(isinstance(message, s.MatchStarted | s.Goodbye) for message in blue.inbox)


@pytest.mark.parametrize("readies", [0, 1, 2])
@pytest.mark.parametrize("lost", [True, False])
async def test_a_turn_goes_to_the_connection_that_is_ready_however_often_its_side_came_back_meanwhile(
    world: World, readies: int, lost: bool, autojump_clock: MockClock
) -> None:
    red, blue, _, token = await begun(world)
    turn = await red.hear(s.YourTurn)
    silence = world.journal.silence = trio.Event()
    await red.move(turn)
    await wait_all_tasks_blocked()
    for number in range(3):
        if lost:
            await cut(blue)
        blue = await back(world, token, ready=number < readies)
    await wait_all_tasks_blocked()
    silence.set()
    assert (await blue.wait_for(s.Moved)).ply == 0
    if readies < 3:
        await blue.say(c.Ready(room=turn.room))
    await blue.play_on(1)
    assert (await red.wait_for(s.YourTurn)).ply == 2


# -- whose time runs ---------------------------------------------------------------------------


@pytest.mark.parametrize("slow", [3.0, 4.9])
async def test_that_the_server_waits_for_a_slow_database_takes_nothing_from_a_grace_period(
    world: World, slow: float, autojump_clock: MockClock
) -> None:
    red, blue, _, token = await begun(world)
    turn = await red.hear(s.YourTurn)
    await cut(blue)
    await trio.sleep(1)
    silence = world.journal.silence = trio.Event()
    world.lobby.rooms[turn.room].gate.paused = True
    await red.move(turn)
    await trio.sleep(slow)
    referee = world.lobby.rooms[turn.room].referee
    assert referee is not None
    silence.set()
    await wait_all_tasks_blocked()
    left = [absence.until - trio.current_time() for side in referee.clocks if (absence := referee.absences.of(side))]
    assert left == [pytest.approx(GRACE - 1)]
    world.lobby.rooms[turn.room].gate.paused = False
    await back(world, token)


async def test_the_servers_overhead_is_not_what_a_player_was_away(world: World, autojump_clock: MockClock) -> None:
    red, blue, _, token = await begun(world)
    await red.play_on(1)
    await blue.wait_for(s.YourTurn)
    await cut(blue)
    await trio.sleep(1.5)
    blue = await back(world, token)
    turn = await blue.hear(s.YourTurn)
    assert turn.clock.server_overhead_ms is None
    await blue.move(turn)
    assert (await red.wait_for(s.YourTurn)).clock.server_overhead_ms == 0.0
    plies = [record for record in world.journal.records if isinstance(record, PlyPlayed)]
    assert [ply.overhead_ms for ply in plies] == [None, 0.0]


async def test_a_turn_that_its_side_was_away_for_tells_no_overhead(world: World, autojump_clock: MockClock) -> None:
    red, blue, _, token = await begun(world)
    await cut(blue)
    await red.play_on(1)
    await trio.sleep(1.5)
    turn = await (await back(world, token)).hear(s.YourTurn)
    assert turn.clock.server_overhead_ms is None


# -- judged late -------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [0, 1, 50, 400])
@pytest.mark.parametrize(("after", "in_time"), [(1.999, True), (2.001, False)])
async def test_what_came_in_time_counts_although_the_server_stood_still_over_the_deadline(
    world: World, before: int, after: float, in_time: bool, autojump_clock: MockClock
) -> None:
    ours, theirs = memory_stream_pair()
    came = [0.0]
    connection = Connection(theirs, "red", "127.0.0.1", PATIENCE, lambda messages: came[0])
    world._nursery.start_soon(world.lobby.serve, connection)
    red = await Client(ours).greet("ann")
    blue = await world.client("bob")
    await red.join(size=4)
    await blue.join(size=4)
    await red.start()
    await blue.start()
    turn = await red.hear(s.YourTurn)
    asked = trio.current_time()
    sent: list[bytes] = []
    red.stream = Collected(sent)
    for number in range(before):
        await red.say(c.Ping(number=number))
    await red.move(turn)
    autojump_clock.jump(after)  # all of this happens while the server stands still
    came[0] = asked + after
    theirs.receive_stream.put_data(b"".join(sent))
    autojump_clock.jump(5.0)
    if in_time:
        assert (await blue.wait_for(s.Moved)).used_ms == pytest.approx(1999.0)
    else:
        assert (await blue.wait_for(s.MatchOver)).result.reason == "timeout"


class Collected(trio.abc.HalfCloseableStream):
    """The client's end of a stream whose bytes are delivered by hand."""

    def __init__(self, sent: list[bytes]) -> None:
        self._sent = sent

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        self._sent.append(bytes(data))

    async def wait_send_all_might_not_block(self) -> None: ...

    async def send_eof(self) -> None: ...

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        raise NotImplementedError

    async def aclose(self) -> None: ...


# -- a connection that knows the room ------------------------------------------------------------


@pytest.mark.parametrize("since", ["its start", "its end"])
async def test_who_has_watched_a_match_to_its_end_is_refused_its_seat_over_that_connection_and_loses_nothing(
    world: World, since: str, autojump_clock: MockClock
) -> None:
    red, blue, token, _ = await begun(world)
    room = (await red.hear(s.YourTurn)).room
    watcher = await world.client()
    if since == "its start":
        await watcher.say(c.Observe(room=room))
    await wait_all_tasks_blocked()
    await cut(red)
    await blue.say(c.Surrender(room=room))
    await blue.wait_for(s.MatchOver)
    if since == "its end":
        await watcher.say(c.Observe(room=room))
    await watcher.wait_for(s.Observing)
    await watcher.say(c.Rejoin(token=token))
    assert (await watcher.wait_for(s.Error)).code == "already_in_room"
    await watcher.say(c.ListRooms())
    await watcher.wait_for(s.Rooms)
    late = await back(world, token, ready=False)
    assert (await late.hear(s.MatchOver)).result.winner == "red"
