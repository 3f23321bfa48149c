"""The clock of a prepared room: the server's own, with what the administrator changes of it; announced as enforced."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.values import Budget, PerMove, TimeControl, Unlimited
from triarena.server.planning import time_control
from triarena.server.settings import ClockSettings

from .conftest import PATIENCE, Client, World, house

OWN = PerMove(move_ms=2000, margin_ms=50, strikes=1, hard_ms=4000)
SLOTS = [c.Slot(), c.Slot()]


async def prepared(world: World, **clock: Any) -> s.Prepared:
    admin = await (await world.client()).administer()
    await admin.say(c.Prepare(game="towerwars", options={"size": 4}, slots=SLOTS, **clock))
    return await admin.wait_for(s.Prepared)


@pytest.mark.parametrize(
    ("own", "asked", "made"),
    [
        (OWN, {}, OWN),
        (OWN, {"move_ms": 3000.0}, PerMove(move_ms=3000, margin_ms=50, strikes=1, hard_ms=4000)),
        (OWN, {"move_ms": 5000.0}, PerMove(move_ms=5000, margin_ms=50, strikes=1, hard_ms=5000)),
        (OWN, {"budget_ms": 9000.0}, Budget(budget_ms=9000, margin_ms=50)),
        (OWN, {"budget_ms": 9000.0, "increment_ms": 7.0}, Budget(budget_ms=9000, increment_ms=7, margin_ms=50)),
        (OWN, {"time_control": PerMove(move_ms=10)}, PerMove(move_ms=10)),
        (Budget(budget_ms=5, margin_ms=20), {"move_ms": 30.0}, PerMove(move_ms=30, margin_ms=20)),
        (Budget(budget_ms=5, margin_ms=20), {"budget_ms": 30.0}, Budget(budget_ms=30, margin_ms=20)),
        (Unlimited(), {"move_ms": 30.0}, PerMove(move_ms=30)),
    ],
)
async def test_what_is_not_changed_stays_as_the_servers_own(
    own: TimeControl, asked: dict[str, Any], made: TimeControl, autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(clock=own), PATIENCE)
        answer = await prepared(world, **asked)
        assert answer.time_controls == [made, made]
        assert set(world.lobby.rooms[answer.room].terms.clocks.values()) == {made}
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("asked", "pauses", "limit_ms"),
    [
        ({"move_ms": 3000.0}, [3.9, 3.06], 3000),  # a strike that the server's own clock forgives, and none after it
        ({"budget_ms": 3000.0, "increment_ms": 100.0}, [2.5, 0.66], 600),
    ],
)
async def test_the_clock_that_is_announced_is_the_one_that_is_enforced(
    asked: dict[str, Any], pauses: list[float], limit_ms: float, autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(clock=OWN), PATIENCE)
        answer = await prepared(world, **asked)
        red, blue = [await seated(world, code) for code in answer.reservations]
        assert (await red.start()).time_control == answer.time_controls[0]
        await blue.start()
        nursery.start_soon(blue.play_on)
        for pause in pauses:
            turn = await red.wait_for(s.YourTurn)
            await trio.sleep(pause)
            await red.move(turn)
        over = await red.wait_for(s.MatchOver)
        assert (over.result.reason, over.result.winner) == ("timeout", "blue")
        assert over.result.detail.limit_ms == pytest.approx(limit_ms)
        nursery.cancel_scope.cancel()


async def seated(world: World, code: str | None) -> Client:
    assert code is not None
    client = await world.client()
    await client.say(c.JoinReserved(reservation=code))
    await client.hear(s.Joined)
    return client


@pytest.mark.parametrize(
    ("settings", "control"),
    [
        (ClockSettings(), PerMove(move_ms=2000, margin_ms=50)),
        (ClockSettings(strikes=2), PerMove(move_ms=2000, margin_ms=50, strikes=2, hard_ms=10_000)),
        (
            ClockSettings(budget_seconds=300, increment_seconds=2),
            Budget(budget_ms=300_000, increment_ms=2000, margin_ms=50),
        ),
    ],
)
def test_the_settings_give_the_servers_own_clock(settings: ClockSettings, control: TimeControl) -> None:
    assert time_control(settings) == control


@pytest.mark.parametrize(
    ("clock", "sentence"),
    [
        ({"move_ms": 1.0, "budget_ms": 1.0}, "give only one of 'time_control', 'move_ms' and 'budget_ms'"),
        ({"move_ms": 1.0, "time_control": Unlimited()}, "give only one of 'time_control', 'move_ms' and 'budget_ms'"),
        ({"increment_ms": 1.0}, "'increment_ms' goes with 'budget_ms'"),
    ],
)
async def test_two_clocks_at_once_are_refused_with_a_sentence(
    world: World, clock: dict[str, Any], sentence: str, autojump_clock: MockClock
) -> None:
    admin = await (await world.client()).administer()
    await admin.say(c.Prepare(game="towerwars", slots=SLOTS, **clock))
    refusal = await admin.hear(s.Error)
    assert refusal.code == "bad_time_control"
    assert sentence in refusal.message
