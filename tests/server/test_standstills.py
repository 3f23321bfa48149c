"""A server that stands still (stopped, suspended, kept from running) takes nobody's time, however long it lasts."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.games import Side
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.values import PerMove
from triarena.server.clock import SideClock
from triarena.server.events import Nudge
from triarena.server.lag import STANDSTILL, LoopLag
from triarena.server.match import WAKING_SECONDS
from triarena.server.turn import Turn

from .conftest import PATIENCE, Stopped, World, house

STARTUP, GRACE, MOVE = 30.0, 5.0, 2.0
LONG = [0.3, 8.0, 35.0, 3600.0]


@pytest.fixture
async def world(autojump_clock: MockClock) -> AsyncIterator[World]:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(startup=STARTUP, grace=GRACE), PATIENCE)
        world.lobby.lag = Stopped(autojump_clock)
        yield world
        nursery.cancel_scope.cancel()


async def stop(world: World, seconds: float) -> None:
    assert isinstance(world.lobby.lag, Stopped)
    await wait_all_tasks_blocked()
    world.lobby.lag.stand_still(seconds)


@pytest.mark.parametrize("seconds", LONG)
async def test_who_is_asked_may_answer_when_the_server_goes_on_and_is_charged_its_own_time(
    world: World, seconds: float, autojump_clock: MockClock
) -> None:
    red, blue, *_ = await world.begun()
    turn = await red.hear(s.YourTurn)
    await trio.sleep(0.5)
    await stop(world, seconds)
    await trio.sleep(0.7)
    await red.move(turn)
    assert (await blue.wait_for(s.Moved)).used_ms == pytest.approx(1200.0)


@pytest.mark.parametrize("seconds", LONG)
async def test_who_is_too_slow_apart_from_that_loses_all_the_same(
    world: World, seconds: float, autojump_clock: MockClock
) -> None:
    red, blue, *_ = await world.begun()
    await red.hear(s.YourTurn)
    await trio.sleep(0.5)
    await stop(world, seconds)
    woken = trio.current_time()
    assert (await blue.wait_for(s.MatchOver)).result.reason == "timeout"
    assert trio.current_time() - woken == pytest.approx(1.5)


@pytest.mark.parametrize("seconds", LONG)
async def test_who_was_cut_off_in_its_turn_has_the_rest_of_its_time(
    world: World, seconds: float, autojump_clock: MockClock
) -> None:
    red, blue, token, _ = await world.begun()
    await red.hear(s.YourTurn)
    await trio.sleep(0.7)
    await red.stream.aclose()
    await trio.sleep(0.2)
    await stop(world, seconds)
    await trio.sleep(0.1)
    red = await world.back(token)
    turn = await red.hear(s.YourTurn)
    assert turn.clock.remaining_ms == pytest.approx(1000.0)
    await red.move(turn)
    await blue.wait_for(s.Moved)


@pytest.mark.parametrize("seconds", LONG)
async def test_a_grace_period_does_not_run_while_the_server_does_not(
    world: World, seconds: float, autojump_clock: MockClock
) -> None:
    red, blue, _, _ = await world.begun()
    turn = await red.hear(s.YourTurn)
    world.lobby.rooms[turn.room].gate.paused = True
    await red.move(turn)
    await wait_all_tasks_blocked()
    await blue.stream.aclose()
    await wait_all_tasks_blocked()
    world.lobby.rooms[turn.room].gate.paused = False
    world.lobby.rooms[turn.room].put(Nudge())
    await trio.sleep(GRACE - 0.5)
    await stop(world, seconds)
    woken = trio.current_time()
    result = (await red.wait_for(s.MatchOver)).result
    assert (result.reason, result.winner) == ("disconnected", "red")
    assert trio.current_time() - woken == pytest.approx(0.5 + WAKING_SECONDS)


@pytest.mark.parametrize("seconds", LONG)
async def test_nor_does_the_time_to_get_ready(world: World, seconds: float, autojump_clock: MockClock) -> None:
    red, blue = await world.pair(size=4)
    await red.start()
    await blue.wait_for(s.MatchStarted)
    await trio.sleep(STARTUP - 1)
    await stop(world, seconds)
    await trio.sleep(1.5)
    room = next(iter(world.lobby.rooms))
    await blue.say(c.Ready(room=room))
    await red.play_on(1)
    assert world.lobby.rooms[room].result is None


# -- neither side is there -----------------------------------------------------------------------


@pytest.mark.parametrize("order", ["red first", "blue first"])
async def test_when_both_drop_the_clock_stands_and_nobody_wins(
    world: World, order: str, autojump_clock: MockClock
) -> None:
    red, blue, *_ = await world.begun()
    room = (await red.hear(s.YourTurn)).room
    began = trio.current_time()
    for client in (red, blue) if order == "red first" else (blue, red):
        await client.stream.aclose()
        await trio.sleep(0.3)
    await trio.sleep(GRACE + 1)
    result = world.lobby.rooms[room].result
    assert result is not None
    assert (result.reason, result.winner, result.detail.offenders) == ("disconnected", None, ["red", "blue"])
    assert world.lobby.rooms[room].touched - began == pytest.approx(GRACE)


@pytest.mark.parametrize("first", ["red", "blue"])
async def test_whoever_comes_back_first_the_clock_goes_on_where_it_stood(
    world: World, first: str, autojump_clock: MockClock
) -> None:
    red, blue, *tokens = await world.begun()
    await red.hear(s.YourTurn)
    await trio.sleep(0.5)
    await red.stream.aclose()
    await blue.stream.aclose()
    await trio.sleep(GRACE - 1)
    if first == "red":
        red = await world.back(tokens[0])
        turn = await red.hear(s.YourTurn)
        assert turn.clock.remaining_ms == pytest.approx(1500.0)
        await red.move(turn)
        await world.back(tokens[1])
    else:
        blue = await world.back(tokens[1])
        await trio.sleep(0.4)
        red = await world.back(tokens[0])
        turn = await red.hear(s.YourTurn)
        assert turn.clock.remaining_ms == pytest.approx(1100.0)


async def test_when_one_is_back_and_the_other_does_not_come_in_its_time_it_loses(
    world: World, autojump_clock: MockClock
) -> None:
    red, blue, _, token = await world.begun()
    await red.hear(s.YourTurn)
    await red.stream.aclose()
    await blue.stream.aclose()
    await trio.sleep(GRACE - 1)
    blue = await world.back(token)
    result = (await blue.wait_for(s.MatchOver)).result
    assert (result.reason, result.winner) == ("disconnected", "blue")


# -- as values -----------------------------------------------------------------------------------


def turn_through(*standstills: tuple[float, float]) -> Turn:
    """Asked at 100, by a server that stood still from and until these moments."""
    now = 80.0
    lag = LoopLag(lambda: now)
    for began, ended in standstills:
        while now < began:  # it runs, and is idle
            lag.before_io_wait(0.1)
            now = min(now + 0.1, began)
            lag.after_io_wait(0.1)
        lag.before_io_wait(0.0)
        now = ended
        lag.after_io_wait(0.0)
    turn = Turn(Side.RED, 0, SideClock.of(PerMove(move_ms=1000)), 100.0, stood_still=lag.stood_still)
    turn.start(100.0)
    return turn


@pytest.mark.parametrize("length", [1.0, 35.0, 1e5])
def test_what_is_stamped_inside_of_a_standstill_is_charged_what_it_took(length: float) -> None:
    turn = turn_through((100.1, 100.1 + length))
    assert turn.elapsed(100.8) == pytest.approx(0.8)
    assert turn.elapsed(100.1 + length + 0.2) == pytest.approx(0.3)
    assert turn.runs_out() == pytest.approx(100.0 + length + turn.clock.patience())


def test_of_a_standstill_that_had_begun_before_the_question_the_rest_counts() -> None:
    turn = turn_through((90.0, 100.5))
    assert turn.elapsed(101.0) == pytest.approx(0.5)
    assert turn_through((90.0, 99.0)).elapsed(101.0) == pytest.approx(1.0)


def test_several_standstills_add_up_and_short_lags_are_none() -> None:
    turn = turn_through((100.1, 103.1), (103.2, 103.2 + STANDSTILL - 0.01), (104.0, 109.0))
    assert turn.elapsed(110.0) == pytest.approx(2.0)


def test_what_stands_still_while_nobody_is_there_is_not_taken_off_twice() -> None:
    turn = turn_through((101.0, 109.0))
    turn.hold(100.2, nobody=True)
    assert turn.runs_out() == math.inf
    assert turn.elapsed(150.0) == pytest.approx(0.2)
    turn.hold(111.0, nobody=False)
    assert turn.elapsed(111.5) == pytest.approx(0.7)
    assert turn.runs_out() == pytest.approx(111.0 - 0.2 + turn.clock.patience())
