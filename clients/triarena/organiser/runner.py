"""Playing one tournament: what the plan allows, as much at once as is wanted, until nothing is left to play.

The loop is the only one that decides; attempts run beside it and report by ringing the bell. A result counts from the
moment when it is in the store. So whatever happens to this process, a resumed tournament has the same plan and the
same results, and plays the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Final, Literal, Protocol, TypeAlias, TypeVar

import trio

from triarena.tournament.formats import CountedFormat
from triarena.tournament.schedule import playable
from triarena.tournament.values import Fixture, Plan, Played

from .attempt import Attempt, Failed, Outcome, Sporting, Table
from .bell import Bell
from .lost_processes import MOST, PROCESS_LOST, LostProcesses
from .records import Attempt as StoredAttempt
from .records import Note, Spent, StoredResult, StoreError
from .store import Store, check_agreement
from .waiting import Waiting

TICK: Final = 1.0
"""Seconds after which the loop looks again although nobody rang: patience runs out silently."""
RETRY_PAUSE: Final = 2.0
"""Seconds before a game is tried again: what made it fail may take a moment to pass. More with each failure."""
STORE_PAUSE: Final = 2.0
"""Seconds between two attempts to store what the disk did not take."""

How: TypeAlias = Literal["finished", "stopped", "incomplete", "interrupted", "cancelled"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run of a tournament ended."""

    how: How
    """``stopped``: by its stopping rule; ``incomplete``: some games could not be played; ``interrupted``: resume it."""
    why: str = ""
    unstored: bool = field(default=False, compare=False)
    """Whether something that was played could not be stored, and so is played again."""
    unwritten: str = field(default="", compare=False)
    """Which of the last exports can't be written, and why."""


class Listener(Protocol):
    """Who looks on; nothing here may block or fail."""

    def began(self, attempt: Attempt) -> None:
        """A game is tried."""

    def ended(self, attempt: Attempt, outcome: Outcome) -> None:
        """And that came of it; a result is stored by now."""

    def trouble(self, sentence: str) -> None:
        """Something that the organiser should know."""


class Keeper(Protocol):
    """Keeps what there is to know of an irregular match; may block, is run in a thread."""

    def __call__(self, attempt: Attempt, outcome: Outcome) -> str:
        """The folder in which it was kept, relative to the tournament's; empty if there is none."""
        ...


@dataclass(slots=True, eq=False)
class EventRun:
    """The running of one tournament. ``orders`` says what an administrator wants: None, to interrupt, to cancel."""

    table: Table
    format: CountedFormat
    store: Store
    bell: Bell
    concurrency: int
    attempts: int
    """How often a game is tried."""
    now: Callable[[], datetime]
    listener: Listener
    keeper: Keeper
    stops: Callable[[Plan, dict[str, Played]], str | None]
    """Why the stopping rule ends it now; None if it does not."""
    orders: Ending | None = None
    hurried: bool = False
    """Whether it ends at once: a disk that is full is not waited for any more."""
    played: dict[str, Played] = field(default_factory=dict)
    running: dict[str, Attempt] = field(default_factory=dict)
    """By the fixture's id."""
    given_up: dict[str, str] = field(default_factory=dict)
    """Games that failed too often, and how the last attempt did."""
    waiting: Waiting = field(default_factory=Waiting)
    """For players who have a game to play, and are not there."""
    _failures: Counter[str] = field(default_factory=Counter)
    _not_before: dict[str, float] = field(default_factory=dict)
    """When games that have failed are tried again, in trio's time."""
    _unstored: int = 0
    """How many writes wait for the disk to take them."""
    _lost: LostProcesses = field(default_factory=LostProcesses)
    _asked: tuple[tuple[int, float], str | None] = ((-1, 0.0), None)
    """What the stopping rule said last, and after how many results and when."""
    _plan: Plan | None = None
    """The schedule after what was played; None if that has changed."""

    async def run(self) -> Ending:
        """Play. What the store refuses interrupts it, above all results that belong to another plan."""
        event = self.table.event
        try:
            self.played = await self._stored(partial(self.store.played, event.slug))
            check_agreement(event.name, self.plan, self.played)
            self._lost.remember(await self._stored(self.store.notes))
        except StoreError as error:
            return Ending("interrupted", error.message)
        async with trio.open_nursery() as nursery:
            while (ending := self._ending()) is None or self.running:
                if ending is None:
                    for fixture in self._startable():
                        self._start(nursery, fixture)
                await self.bell.rung(TICK)
        return ending

    @property
    def plan(self) -> Plan:
        """The schedule as far as it is known."""
        if self._plan is None:
            self._plan = self.format.plan(self.played)
        return self._plan

    def left(self) -> list[Fixture]:
        """The games that are planned and not played, also those that are being played."""
        return [fixture for fixture in self.plan.fixtures() if fixture.id not in self.played]

    def _ending(self) -> Ending | None:
        """Why nothing more is to be started; None while there is something to start or to wait for."""
        if self.orders is not None:
            return self.orders
        if self.table.link.fatal is not None:
            return Ending("interrupted", str(self.table.link.fatal))
        plan = self.plan
        why = self._why_stop(plan)
        if why is not None:
            return Ending("stopped", why)
        left = [fixture for fixture in plan.fixtures() if fixture.id not in self.played]
        if not left and plan.complete:
            return Ending("finished")
        if left and all(fixture.id in self.given_up for fixture in left):
            return Ending("incomplete", f"{len(left)} games could not be played: {self.given_up[left[0].id]}")
        return None

    def _why_stop(self, plan: Plan) -> str | None:
        """Why the stopping rule ends it; asked for each result, and for each second, since the question can be dear."""
        moment = len(self.played), trio.current_time() // TICK
        if self._asked[0] != moment:
            self._asked = moment, self.stops(plan, self.played)
        return self._asked[1]

    def _startable(self) -> Sequence[Fixture]:
        if self.table.link.open:
            self._look_out()
        free = self.concurrency - len(self.running)
        if free <= 0 or not self.table.link.open:
            return []
        most = self.table.event.stop.max_games
        if most is not None:
            free = min(free, most - len(self.played) - len(self.running))
        now = trio.current_time()
        later = (id_ for id_, moment in self._not_before.items() if moment > now)
        done = {*self.played, *self.given_up, *later}
        ready = playable(self.plan, done, self.running, self.table.present())
        if not ready and not self.running:
            # Nobody loses a game by being away as long as there is something else to play.
            ready = playable(self.plan, done, self.running, self.table.available())
        return ready[: max(0, free)]

    def _look_out(self) -> None:
        """Begin to wait for players who have a game to play and are not there, and tell of it."""
        absent = self.table.absent()
        if not absent and not self.waiting.names:
            return
        done = {*self.played, *self.given_up}
        due = {name for each in self.plan.fixtures() if each.id not in done for name in each.players}
        busy = {name for each in self.running.values() for name in each.fixture.players}
        deadlines = {name: self.table.awaits(name) for name in sorted(absent & due - busy)}
        for sentence in self.waiting.news(deadlines, absent, self.bell.now(), self.now()):
            self.listener.trouble(sentence)

    def _start(self, nursery: trio.Nursery, fixture: Fixture) -> None:
        number = self._failures[fixture.id] + 1
        attempt = Attempt(fixture, number, trio.current_time(), last=number >= self.attempts)
        self.running[fixture.id] = attempt  # at once: the next look must see it
        nursery.start_soon(self._play, attempt)

    async def _play(self, attempt: Attempt) -> None:
        """One attempt; a store that refuses to take it ends the run, in order."""
        try:
            with attempt.scope:
                await self._try(attempt)
        except StoreError as error:
            self.orders = replace(self.orders or Ending("interrupted", error.message), unstored=True)
        del self.running[attempt.fixture.id]
        self.bell.ring()

    async def _try(self, attempt: Attempt) -> None:
        """One attempt, from its first record to its last. Raises StoreError."""
        fixture, event = attempt.fixture, self.table.event.slug
        stored: StoredAttempt = await self._stored(partial(self.store.begin_attempt, event, fixture.id, self.now()))
        attempt.number = stored.number
        self.listener.began(attempt)
        outcome, lost = self._lost.judged(fixture, await self._outcome(attempt, stored))
        spent = self._spent(attempt, outcome)
        if isinstance(outcome, Sporting):
            result = StoredResult(
                event=event,
                played=outcome.played,
                attempt=stored.number,
                match=outcome.match or "",
                message=outcome.message,
                started_at=stored.started_at,
                ended_at=self.now(),
            )
            await self._stored(partial(self.store.record_result, result, spent=spent))
            self.played[fixture.id] = outcome.played
            self._plan = None
        else:
            if outcome.match:
                await self._stored(partial(self.store.place_attempt, stored, match=outcome.match))
            await self._stored(partial(self.store.fail_attempt, stored, outcome.message, self.now(), spent=spent))
            self._has_failed(attempt, outcome)
        if lost:  # a resumed tournament counts on from here
            note = Note(self.now(), PROCESS_LOST, outcome.message, event, lost)
            await self._stored(partial(self.store.note, note))
        # Only now: it takes a while, and what it tells of counts, or does not, by now.
        if folder := await self._kept(attempt, outcome):
            await self._stored(partial(self.store.keep_folder, stored, folder))
        self.listener.ended(attempt, outcome)
        for player, sentence in self.table.bench.news():
            self.listener.trouble(sentence)
            note = Note(self.now(), "cannot_start", sentence, event, player)
            await self._stored(partial(self.store.note, note))

    async def _outcome(self, attempt: Attempt, stored: StoredAttempt) -> Outcome:
        """Play it, and record meanwhile where it is played: a resumed tournament closes that room."""
        refused: list[StoreError] = []

        async def place() -> None:
            try:
                await self._stored(partial(self.store.place_attempt, stored, room=attempt.room or ""))
            except StoreError as error:
                refused.append(error)

        async with trio.open_nursery() as nursery:
            outcome = await self.table.play(attempt, lambda: nursery.start_soon(place))
        if refused:
            raise refused[0]
        return outcome

    async def _kept(self, attempt: Attempt, outcome: Outcome) -> str:
        try:
            if not isinstance(outcome, Sporting) or outcome.irregular:
                await self.table.hear_out(attempt)
            return await trio.to_thread.run_sync(self.keeper, attempt, outcome)
        except Exception as error:  # whatever it is, the result matters more
            self.listener.trouble(f"what there is to know of game {attempt.fixture.id} can't be kept: {error}")
            return ""

    def _has_failed(self, attempt: Attempt, outcome: Failed) -> None:
        id_ = attempt.fixture.id
        self._failures[id_] += 1
        self._not_before[id_] = trio.current_time() + RETRY_PAUSE * self._failures[id_]
        # Until it is known whether a bot is to blame for a lost process, its game is not given up.
        if self._failures[id_] >= (max(self.attempts, MOST) if outcome.culprit else self.attempts):
            self.given_up[id_] = outcome.message
            self.listener.trouble(
                f"game {id_} ({attempt.fixture.red} v {attempt.fixture.blue}) is given up after {self._failures[id_]} "
                f"attempts: {outcome.message}"
            )

    def _spent(self, attempt: Attempt, outcome: Outcome) -> Spent:
        seconds = trio.current_time() - attempt.began
        if not isinstance(outcome, Sporting):
            return Spent(seconds=seconds)
        red, blue = outcome.used_ms
        return Spent(seconds, max(0.0, seconds * 1000 - red - blue), red, blue)

    async def _stored(self, write: Callable[[], T]) -> T:
        """Write to the store; as long as the disk does not take it, wait and try again."""
        waits = False
        try:
            while True:
                try:
                    done = await trio.to_thread.run_sync(write)
                    break
                except StoreError as error:
                    if error.code != "store_failed" or self.hurried:
                        raise
                    if not waits and not self._unstored:  # said once, however many wait
                        self.listener.trouble(f"a result waits to be stored: {error.message}")
                    self._unstored += not waits
                    waits = True
                    await trio.sleep(STORE_PAUSE)
        finally:
            self._unstored -= waits
        if waits and not self._unstored:
            self.listener.trouble("what waited to be stored is stored: the tournament goes on")
        return done
