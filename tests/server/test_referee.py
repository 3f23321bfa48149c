"""The referee alone, with scripted sides and a mock clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain, repeat

import pytest
import trio
from trio.testing import MockClock

from triarena.games import AnyPosition, Side, find_game
from triarena.games.core import Plain
from triarena.protocol.from_server import YourTurn
from triarena.protocol.values import PerMove, Result, TimeControl, Unlimited, Updates
from triarena.server.events import Event, Gate, Gone, HasMoved, IsReady, Mailbox, Surrendered
from triarena.server.match import Referee
from triarena.server.terms import LastTurn, Played, Terms, Timing

GAME = find_game("towerwars")


@dataclass
class Stage:
    """A match whose sides follow a script: after how many seconds each answers."""

    nursery: trio.Nursery
    control: TimeControl
    delays: dict[Side, Iterable[float]] = field(default_factory=dict)
    max_plies: int = 4
    grace: float = 0.0
    told: list[object] = field(default_factory=list)
    turns: list[YourTurn] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.mailbox, self.gate = Mailbox(), Gate()
        clocks = dict.fromkeys(Side, self.control)
        options = {"size": 4, "max_plies": self.max_plies}
        terms = Terms(game=GAME, options=options, seed=0, clocks=clocks, startup=30.0, grace=self.grace)
        players = {side: Actor(self, side, chain(self.delays.get(side, ()), repeat(0.5))) for side in Side}
        self.referee = Referee(terms, players, Unwritten(), self, self.mailbox, self.gate, "room")

    async def run(self, *, ready: bool = True) -> Result:
        for side in Side if ready else ():
            self.mailbox.put(IsReady(side))
        result = await self.referee.run()
        assert result is not None, "nobody stopped the server"
        return result

    def later(self, seconds: float, event: Event) -> None:
        async def put() -> None:
            await trio.sleep(seconds)
            self.mailbox.put(event)

        self.nursery.start_soon(put)

    def started(self, position: AnyPosition) -> None:
        self.told.append("started")

    def moved(self, played: Played, position: AnyPosition) -> None:
        self.told.append(played)

    def over(self, result: Result, position: AnyPosition) -> None:
        self.told.append(result)


class Unwritten:
    """A book that takes everything and keeps nothing."""

    lost = False

    async def opened(self) -> None:
        await trio.lowlevel.checkpoint()

    async def played(self, played: Played, timing: Timing) -> None:
        await trio.lowlevel.checkpoint()

    async def ended(self, result: Result, *, announced: bool, turn: LastTurn | None) -> None:
        await trio.lowlevel.checkpoint()

    async def insist(self) -> None:
        raise AssertionError("nothing was lost")

    def leave(self) -> None:
        raise AssertionError("nothing was lost")


class Actor:
    """A side that plays the first legal move after the next delay of its script."""

    updates: Updates = "positions"

    def __init__(self, stage: Stage, side: Side, delays: Iterable[float]) -> None:
        self._stage, self._side, self._delays = stage, side, iter(delays)

    def ask(self, message: YourTurn, position: Plain, sent: Callable[[float], None]) -> None:
        self._stage.turns.append(message)
        self._stage.nursery.start_soon(self._answer, message, sent, next(self._delays))

    async def heard_out(self) -> None:
        for _ in range(2):
            await trio.lowlevel.checkpoint()

    async def _answer(self, turn: YourTurn, sent: Callable[[float], None], delay: float) -> None:
        sent(trio.current_time())
        await trio.sleep(delay)
        move = next(iter(self._stage.referee.position.legal_moves()))
        event = HasMoved(self._side, turn.ply, GAME.write_move(move), trio.current_time())
        self._stage.mailbox.put(event)


def limit(**fields: float) -> PerMove:
    return PerMove.model_validate({"move_ms": 2000.0, **fields})


async def test_the_ply_limit_of_the_options_ends_a_match_without_a_winner(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    stage = Stage(nursery, limit())
    result = await stage.run()
    assert (result.kind, result.reason, result.winner) == ("aborted", "ply_limit", None)
    assert [t.ply for t in stage.told if isinstance(t, Played)] == [0, 1, 2, 3]
    assert [t.used_ms for t in stage.told if isinstance(t, Played)] == [500.0] * 4
    assert stage.told[-1] == result


@pytest.mark.parametrize(("delay", "lost"), [(1.999, False), (2.0, False), (2.049, False), (2.051, True)])
async def test_the_limit_is_what_was_announced_plus_the_margin(
    nursery: trio.Nursery, delay: float, lost: bool, autojump_clock: MockClock
) -> None:
    result = await Stage(nursery, limit(margin_ms=50.0), {Side.BLUE: [delay]}).run()
    assert (result.reason == "timeout") is lost
    if lost:
        assert (result.winner, result.detail.limit_ms, result.detail.ply) == ("red", 2000.0, 1)
        assert result.detail.used_ms is not None
        assert result.detail.used_ms >= 2050
        assert result.detail.message.endswith(", the limit is 2000 ms, with a margin of 50 ms")


async def test_strikes_forgive_an_overrun_up_to_the_hard_limit(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    control = limit(hard_ms=10_000.0, strikes=1)
    assert (await Stage(nursery, control, {Side.RED: [5.0]}).run()).reason == "ply_limit"
    twice = await Stage(nursery, control, {Side.RED: [5.0, 5.0]}).run()
    assert (twice.reason, twice.winner, twice.detail.ply) == ("timeout", "blue", 2)
    begin = trio.current_time()
    stalled = await Stage(nursery, control, {Side.RED: [99.0]}).run()
    assert (stalled.reason, trio.current_time() - begin) == ("timeout", 10.0)


async def test_without_a_clock_nobody_loses_on_time(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    result = await Stage(nursery, Unlimited(), {Side.RED: [100_000.0]}).run()
    assert result.reason == "ply_limit"


async def test_the_startup_time_is_not_charged_to_the_first_move(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    stage = Stage(nursery, limit())
    for side, seconds in ((Side.RED, 29.0), (Side.BLUE, 1.0)):
        stage.later(seconds, IsReady(side))
    result = await stage.run(ready=False)
    assert result.reason == "ply_limit"
    assert stage.turns[0].clock.remaining_ms == 2000.0


async def test_a_stall_of_the_server_between_arrival_and_refereeing_is_charged_to_nobody(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    """The move arrived in time, but is looked at only after the limit has passed."""
    stage = Stage(nursery, limit())
    stage.mailbox.put(IsReady(Side.RED))
    stage.mailbox.put(IsReady(Side.BLUE))

    class Slow(Mailbox):
        async def get(self) -> Event:
            event = await stage.mailbox.get()
            if isinstance(event, HasMoved):
                with trio.CancelScope(shield=True):
                    await trio.sleep(5.0)  # stands for a long collection, a burst of other matches
            return event

    stage.referee.mailbox = Slow()
    result = await stage.referee.run()
    assert result is not None
    assert result.reason == "ply_limit"
    assert [t.used_ms for t in stage.told if isinstance(t, Played)] == [500.0] * 4
    assert stage.turns[1].clock.server_overhead_ms == 5000.0, "and it is told how slow the server was"


async def test_surrender_counts_in_the_others_turn_too(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    stage = Stage(nursery, limit(), {Side.RED: [1.9]})
    stage.later(1.0, Surrendered(Side.BLUE))
    result = await stage.run()
    assert (result.kind, result.reason, result.winner) == ("forfeit", "surrender", "red")


async def test_a_move_that_arrives_with_the_others_surrender_does_not_undo_it(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    stage = Stage(nursery, limit())
    stage.later(0.4999, Surrendered(Side.BLUE))
    assert (await stage.run()).winner == "red"


async def test_pause_waits_at_the_next_ply_border_and_charges_nobody(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    stage = Stage(nursery, limit(), max_plies=2)
    stage.gate.paused = True

    async def resume() -> None:
        await trio.sleep(1000)
        assert not stage.turns
        stage.gate.paused = False
        from triarena.server.events import Nudge

        stage.mailbox.put(Nudge())

    nursery.start_soon(resume)
    result = await stage.run()
    assert result.reason == "ply_limit"
    assert stage.turns[0].clock.server_overhead_ms is None


async def test_an_illegal_move_costs_the_score_of_who_made_it(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    stage = Stage(nursery, limit(), {Side.RED: [1.0]})
    stage.later(0.5, HasMoved(Side.RED, 0, {"type": "step", "start": "A1", "target": "Z9"}, 0.5))
    result = await stage.run()
    assert (result.reason, result.winner, result.detail.offenders) == ("illegal_move", "blue", ["red"])
    assert result.detail.code
    assert result.detail.move
    assert "ply 0" in result.detail.message


@pytest.mark.parametrize(
    "garbage", [{}, {"type": "plant"}, {"type": "step"}, {"type": "step", "start": 5, "target": []}]
)
async def test_a_move_of_no_game_is_an_illegal_move(
    nursery: trio.Nursery, garbage: dict[str, object], autojump_clock: MockClock
) -> None:
    stage = Stage(nursery, limit(), {Side.RED: [1.0]})
    stage.later(0.5, HasMoved(Side.RED, 0, garbage, 0.5))
    result = await stage.run()
    assert (result.reason, result.detail.code) == ("illegal_move", "malformed_move")


async def test_both_sides_gone_at_once_is_nobodys_win(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    stage = Stage(nursery, limit())
    for side in (Side.BLUE, Side.RED):
        stage.mailbox.put(Gone(side, "disconnected", "the network broke"))
    result = await stage.run(ready=False)
    assert (result.winner, result.detail.offenders) == (None, ["red", "blue"])
