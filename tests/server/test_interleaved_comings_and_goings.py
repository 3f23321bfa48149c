"""Whatever order losses, returns, moves, pauses, cancels, standstills, a failing database and a dying server come in:
the server makes no error of its own, nobody is blamed who is there, or back, in time, every match ends, and the end
that was told is the one that is stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal, cast

import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs
from trio.testing import MockClock, wait_all_tasks_blocked

from triarena.games import Side
from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.table import Phase, Place
from triarena.server.connection import Connection
from triarena.server.events import Nudge
from triarena.server.journal import (
    EvidenceKept,
    Journal,
    JournalError,
    MatchEnded,
    MatchOpened,
    PlyPlayed,
    Record,
    StoredMatch,
)
from triarena.server.recovery import resume_match
from triarena.server.refusal import Refusal
from triarena.server.room import Room

from .conftest import PATIENCE, Client, MemoryJournal, Stopped, World, house

MOVE, STARTUP, GRACE, RESUME = 2.0, 11.0, 7.0, 23.0
TINY = 1e-6
Ending = Literal["everybody comes back", "nothing more happens"]

OPS = [
    "lose", "come back", "ready", "move", "ready", "move", "come back",
    "database fails", "database is back", "database is silent", "database speaks",
    "pause", "go on", "wait 0.3", "wait 0.9", "wait 3.1", "wait 8.7", "the server dies",
    "flap", "displace", "lose", "cancel", "stand still 0.4", "stand still 40",
]  # fmt: skip


class Watched(MemoryJournal):
    """A journal that has every result looked at when it is decided."""

    def __init__(self, decided: Callable[[MatchEnded], None]) -> None:
        super().__init__()
        self._decided = decided
        self._late: list[Record] = []

    async def write(self, record: Record, *, again: bool = False, patience: float = math.inf) -> None:
        if isinstance(record, MatchEnded) and not again:
            self._decided(record)
        if self.silence is not None and not isinstance(record, EvidenceKept):
            self._late.append(record)
        if self.ends() not in ([], [record]) and isinstance(record, MatchEnded):
            raise JournalError("match_ended", "the match has ended already")
        await super().write(record, again=again or record in self._late, patience=patience)

    def speak(self) -> None:
        """What was written in silence is stored, also what nobody waits for any more."""
        if self.silence is not None:
            for record in self._late:
                if record not in self.records and not (isinstance(record, MatchEnded) and self.ends()):
                    self.records.append(record)
            self.silence.set()
            self.silence = None

    def ends(self) -> list[MatchEnded]:
        """The results that are stored; there may be one."""
        return [record for record in self.records if isinstance(record, MatchEnded)]


class Bot:
    """One side, over all of its connections. It does what it is told to, as far as it may."""

    def __init__(self, side: Side, nursery: trio.Nursery) -> None:
        self.side, self._nursery = side, nursery
        self.client: Client | None = None
        self.token = ""
        self.room = ""
        self.turn: s.YourTurn | None = None
        self.eager = False
        """It says and does at once what it owes."""
        self.told_at: float | None = None
        """Since when it has owed ``ready``, over whatever connection; None once it has said it."""
        self.begun = False
        """Whether the match has begun, or gone on after a restart."""
        self.there: Callable[[], bool] = lambda: False
        """Whether the referee counts on it."""
        self.cut_at: float | None = None
        """When it was cut off although it was there; None if it was not."""
        self.asked: dict[int, float] = {}
        """When it was first asked for which ply."""
        self.over: s.MatchOver | None = None
        self.heard: list[str] = []

    async def follow(self, client: Client) -> None:
        """From now on this is its connection."""
        self.client, self.turn = client, None
        self._nursery.start_soon(self._listen, client)

    async def _listen(self, client: Client) -> None:
        try:
            while True:
                message = await client._next()
                if client is self.client:
                    await self._hear(client, message)
                assert getattr(message, "code", "") != "internal_error", message
        except (EOFError, trio.BrokenResourceError, trio.ClosedResourceError):
            if client is self.client:
                self.client = None

    async def _hear(self, client: Client, message: Any) -> None:
        self.heard.append(message.type)
        match message:
            case s.Joined():
                self.token, self.room = message.token, message.room
            case s.MatchStarted():
                if self.told_at is None:
                    self.told_at = trio.current_time()
            case s.YourTurn():
                self.turn = message if message.ply == client.session.ply(self.room) else None
                self.begun, self.told_at = True, None
                self.asked.setdefault(message.ply, trio.current_time())
            case s.Moved():
                self.begun = True
            case s.MatchOver():
                self.over = message
            case _:
                pass
        if self.eager:
            await self.ready()
            await self.move()

    def _stands(self, place: Place) -> bool:
        return self.client is not None and self.client.session.place(self.room) is place

    async def ready(self) -> None:
        if self.client is not None and self._stands(Place.STARTING):
            await self._say(c.Ready(room=self.room))

    async def move(self) -> None:
        client, turn = self.client, self.turn
        if client is not None and turn is not None and self._stands(Place.THINKING):
            self.turn = None
            try:
                await client.move(turn)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                self.client = None

    def _leave(self) -> None:
        """The connection that it has is over."""
        if self.there():
            self.told_at = None

    async def lose(self) -> None:
        if self.client is not None:
            self._leave()
            self.cut_at = trio.current_time() if self.there() else None
            client, self.client = self.client, None
            await client.stream.aclose()

    async def come_back(self, world: World) -> None:
        self._leave()
        client = Client(world.raw())
        await self.follow(client)
        await self._say(c.Hello(protocol=1, software="test"))
        for _ in range(100):
            if client.session.phase is Phase.OPEN or client is not self.client:
                break
            await trio.lowlevel.checkpoint()
        await self._say(c.Rejoin(token=self.token))

    async def _say(self, message: c.FromClient) -> None:
        try:
            if self.client is not None:
                await self.client.say(message)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.client = None


class Play:
    """A match, and what happens to it."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.nursery = nursery
        self.bots = {side: Bot(side, nursery) for side in Side}
        self.ended: MatchEnded | None = None
        self.died = False
        self.unjust: list[AssertionError] = []
        self.world: World
        self.room: Room
        self._alive: trio.CancelScope

    async def begin(self) -> None:
        await self.nursery.start(self._host)
        for side, bot in self.bots.items():
            client = await self.world.client(side.value)
            joined = await client.join(size=4, max_plies=8)
            bot.token, bot.room = joined.token, joined.room
            await bot.follow(client)
        (self.room,) = self.world.lobby.rooms.values()
        for side, bot in self.bots.items():
            bot.there = partial(self._there, side)

    def _there(self, side: Side) -> bool:
        referee = self.room.referee
        return referee is not None and self.room.match is not None and referee.absences.of(side) is None

    async def _host(self, task_status: trio.TaskStatus[None]) -> None:  # noqa: ASYNC114 - nobody starts it but `begin`
        async with trio.open_nursery() as nursery:
            self.world = World(nursery, house(grace=GRACE, startup=STARTUP, resume=RESUME, idle=1e6), PATIENCE)
            self.journal = self.world.journal = Watched(self._decided)
            self.world.lobby._journal = cast(Journal, self.journal)
            clock = trio.lowlevel.current_clock()
            assert isinstance(clock, MockClock)
            self.lag = self.world.lobby.lag = Stopped(clock)
            self._alive = nursery.cancel_scope
            task_status.started()
            await trio.sleep_forever()

    async def do(self, op: str, side: Side) -> None:
        bot, journal = self.bots[side], self.journal
        match op.split():
            case ["lose"]:
                await bot.lose()
            case ["flap"]:
                await bot.lose()
                await wait_all_tasks_blocked()
                await bot.come_back(self.world)
            case ["displace"]:
                await bot.come_back(self.world)
            case ["cancel"]:
                if self.room.result is None:
                    with suppress(Refusal):
                        await self.world.lobby.administration._cancel(self.room, "")
            case ["stand", "still", seconds]:
                self.lag.stand_still(float(seconds))
            case ["come", "back"]:
                await bot.come_back(self.world)
            case ["ready"]:
                await bot.ready()
            case ["move"]:
                await bot.move()
            case ["database", "fails"]:
                journal.broken = True
            case ["database", "is", "back"]:
                journal.broken = False
            case ["database", "is", "silent"]:
                journal.silence = trio.Event() if journal.silence is None else journal.silence
            case ["database", "speaks"]:
                self._speak()
            case ["pause"]:
                self.room.gate.paused = True
            case ["go", "on"]:
                self._go_on()
            case ["wait", seconds]:
                await trio.sleep(float(seconds))
            case ["the", "server", "dies"]:
                await self._die()
            case _:
                raise AssertionError(op)

    def _speak(self) -> None:
        self.journal.speak()

    def _go_on(self) -> None:
        self.room.gate.paused = False
        self.room.put(Nudge())

    async def _die(self) -> None:
        records = list(self.journal.records)
        if not records or self.ended is not None:
            return  # nothing is stored that could go on
        opened = records[0]
        assert isinstance(opened, MatchOpened)
        self._alive.cancel()
        for bot in self.bots.values():
            bot.client, bot.told_at, bot.begun, bot.cut_at = None, None, False, None
        await wait_all_tasks_blocked()
        await self.nursery.start(self._host)
        self.journal.records, self.died = records, True
        resume_match(self.world.lobby, StoredMatch(opened, tuple(r for r in records if isinstance(r, PlyPlayed)), None))
        (self.room,) = self.world.lobby.rooms.values()

    async def end(self, ending: Ending) -> None:
        """However it has gone so far, it comes to an end."""
        self.journal.broken = False
        self._speak()
        self._go_on()
        if ending == "everybody comes back":
            fair = self.ended is None and self.room.result is None
            for bot in self.bots.values():
                bot.eager = True
                await bot.come_back(self.world)
            await trio.sleep(600)
            assert all(bot.over is not None for bot in self.bots.values()), "everybody is told"
            if fair:
                assert self.room.result is not None
                assert self.room.result.kind != "forfeit", self.room.result
        else:
            await trio.sleep(600)
        if self.unjust:
            raise self.unjust[0]
        assert self.room.result is not None, "every match ends"
        assert self.room.result.reason != "internal_error", self.room.result
        for told in (self.room.result, *(bot.over.result for bot in self.bots.values() if bot.over is not None)):
            assert [end.result for end in self.journal.ends()] == [told.model_dump(exclude_none=True)], (
                "as it is stored"
            )

    def _decided(self, record: MatchEnded) -> None:
        """Whoever is blamed at this moment must be to blame."""
        self.ended = record
        try:
            assert record.reason != "internal_error", record
            assert record.reason != "not_resumed" or self.died, record
            for name in record.result["detail"].get("offenders", ()):
                self._is_to_blame(self.bots[Side(name)], record)
        except AssertionError as error:
            self.unjust.append(error)  # the referee would survive it

    def _is_to_blame(self, bot: Bot, record: MatchEnded) -> None:
        line, now = self.room.seats[bot.side].line, trio.current_time()
        referee = self.room.referee
        assert referee is not None
        in_turn = referee.position.to_move is bot.side
        if line is None:  # it is away
            alone = len(record.result["detail"]["offenders"]) == 1
            if alone and bot.cut_at is not None and (referee.absences.gathering or not in_turn):
                assert self._ran(bot.cut_at) >= GRACE - TINY, (record, bot.cut_at, now)
            return
        assert isinstance(line, Connection)
        place = line._session.place(self.room.id)  # type: ignore[attr-defined]  # a session of ours
        if place is Place.STARTING:
            overdue = bot.told_at is not None and self._ran(bot.told_at) >= STARTUP - TINY
            assert record.reason == "no_show" or len(record.result["detail"]["offenders"]) == 2, record
            assert overdue or in_turn, (record, bot.told_at, now)
        else:
            assert place is Place.THINKING, (place, record)
            assert record.reason == "timeout", record
            assert self._ran(bot.asked[referee.ply]) >= MOVE - TINY, record

    def _ran(self, since: float) -> float:
        """For how many seconds the server has run since then."""
        now = trio.current_time()
        return now - since - self.lag.stood_still(since, now)


Step = tuple[str, Side, int]


async def play(script: Sequence[Step], ending: Ending) -> None:
    with trio.fail_after(1e5):
        async with trio.open_nursery() as nursery:
            match = Play(nursery)
            await match.begin()
            for op, side, pause in script:
                await match.do(op, side)
                if pause == 3:
                    await wait_all_tasks_blocked()
                for _ in range(pause):
                    await trio.lowlevel.checkpoint()
            await match.end(ending)
            nursery.cancel_scope.cancel()


steps = st.tuples(st.sampled_from(OPS), st.sampled_from(list(Side)), st.integers(0, 3))


@settings(max_examples=200, deadline=None)
@given(st.lists(steps, max_size=40), st.sampled_from(["everybody comes back", "nothing more happens"]))
def test_nobody_is_blamed_who_is_there_and_in_time_and_every_match_ends(script: list[Step], ending: Ending) -> None:
    with capture_logs():
        trio.run(partial(play, script, ending), clock=MockClock(autojump_threshold=0))
