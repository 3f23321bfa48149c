"""Running all tournaments of a file in turn: server, bots, store, exports, and an orderly end whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, Protocol

import trio

from triarena.protocol import from_client as c
from triarena.tournament.formats import CountedFormat
from triarena.tournament.values import Plan, Played

from .attempt import Attempt, Outcome, Table
from .bell import Bell
from .crew import Crew, Place
from .desk import DeskError, DeskRefused
from .embedded import EmbeddedServer
from .link import Access, Link, enrolments
from .records import OVER, TOOL_ENDED, TOOL_INTERRUPTED, Note, StoreError, TournamentState, event_of
from .runner import Ending, EventRun, Keeper
from .spec import Event, TournamentFile
from .store import Store

CANCELLED: Final[tuple[TournamentState, ...]] = ("cancelled",)
WATCH_SECONDS: Final = 1.0
"""How often it is looked whether the tournament was cancelled from elsewhere."""
STORE_PAUSE: Final = 2.0
"""Seconds between two attempts to store what the disk did not take."""
INTERRUPTED: Final = "it was interrupted"
AGAIN: Final = "its tournament begins it anew"
"""Why rooms are closed in which games were broken off."""
CLOSE_SECONDS: Final = 5.0
"""How long closing them may take; at the next start they are closed anyway."""
HEARING_SECONDS: Final = 1.0
"""For the server to tell what has ended, before the rest is broken off."""
DRAIN_SECONDS: Final = 20.0
"""How long running games may go on after an interrupt."""


class View(Protocol):
    """What the organiser sees while it runs. Nothing here may block or fail."""

    def shows(self, run: EventRun, link: Link) -> None:
        """This tournament is played from now on."""

    def began(self, attempt: Attempt) -> None:
        """A game is tried."""

    def ended(self, attempt: Attempt, outcome: Outcome) -> None:
        """And that came of it."""

    def trouble(self, sentence: str) -> None:
        """Something that the organiser should know."""

    async def keep(self) -> None:
        """Refresh what is seen, until cancelled."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """What belongs to the layers above or beside: formats, stopping rules, exports, evidence."""

    format: Callable[[Event], CountedFormat]
    stops: Callable[[Event, Plan, dict[str, Played], float], str | None]
    """Why the stopping rule ends a tournament now, given what was played and the seconds of playing."""
    farewell: Callable[[Store, str], str]
    """What a player is told at the end of everything."""
    export: Callable[[], None]
    """Write the pages and tables anew; blocks."""
    keeper: Callable[[Event], Keeper]
    now: Callable[[], datetime]
    why_left: Callable[[str], str] | None = None
    """See ``Table``."""


@dataclass(slots=True, eq=False)
class Campaign:
    """All tournaments of a file, at an embedded server or at a running one."""

    file: TournamentFile
    folder: Path
    store: Store
    hooks: Hooks
    view: View
    server: EmbeddedServer | None
    """None: the one that ``access`` leads to."""
    access: Callable[[], Access | None]
    place: Callable[[], Place | None]
    bell: Bell
    interrupted: bool = False
    _run: EventRun | None = field(default=None, init=False)
    _broken_off: bool = field(default=False, init=False)
    _moved: Ending | None = field(default=None, init=False)
    """The end of a tournament whose folder does not lie any more where it is played; None while it does."""
    _told: set[str] = field(default_factory=set, init=False)
    """Why exports could not be written, since they could."""
    _seconds: Callable[[], float] = field(default=lambda: 0.0, init=False)
    """For how long the present tournament has been played, also before an interrupt."""

    def interrupt(self) -> None:
        """Start nothing more; let the games that run be played to their end, for a while."""
        self.interrupted = True
        if self._run is not None and self._run.orders is None:
            self._run.orders = Ending("interrupted", INTERRUPTED)
        self.bell.ring()

    def break_off(self) -> None:
        """End at once; the games that run are played again when the tournament is resumed."""
        self._broken_off = True
        self.interrupt()

    async def run(self) -> Ending:
        """Play what is left to play. What has ended is in the store when this returns, and the exports are written."""
        try:
            players = await trio.to_thread.run_sync(self.store.players)
            left = await trio.to_thread.run_sync(self.store.give_up_running, TOOL_ENDED, self.hooks.now())
            begin = partial(self.store.set_state, "running", unless=OVER)
            if (state := await trio.to_thread.run_sync(begin)) in OVER:
                return Ending("cancelled" if state == "cancelled" else "finished", f"it was {state} before")
        except StoreError as error:
            return Ending("interrupted", error.message)
        tokens = {player.name: player.token for player in players if player.token is not None}
        link = Link(self.access, enrolments(tokens), self.bell)
        for attempt in left:  # these are played anew
            if attempt.room:
                await link.close(attempt.room, AGAIN)
        async with trio.open_nursery() as nursery:
            if self.server is not None:
                nursery.start_soon(self.server.keep)
            nursery.start_soon(self.bell.watch)
            nursery.start_soon(link.keep)
            nursery.start_soon(self._viewing)
            nursery.start_soon(self._exporting)
            nursery.start_soon(self._watch_store)
            crew = Crew(nursery, self.bell, self.file.limits, self.folder / "logs", tokens)
            try:
                ending = await self._events(link, crew)
                if ending.how in ("finished", "stopped", "cancelled"):
                    await self._say_goodbye(link, tokens)
            except StoreError as error:
                ending = Ending("interrupted", error.message)
            nursery.cancel_scope.cancel()
        return await trio.to_thread.run_sync(self._close, self._moved or ending)

    async def _events(self, link: Link, crew: Crew) -> Ending:
        """Play one tournament after the other; the ending of the last one that was played."""
        states = {event.slug: event.state for event in self.store.events()}
        worst = Ending("finished")
        for event in self.file.events:
            if states[event.slug] in ("finished", "stopped", "cancelled"):
                continue
            if self.interrupted:
                return Ending("interrupted", INTERRUPTED)
            ending = await self._event(event, link, crew)
            if ending.how == "interrupted":
                return ending
            if ending.how == "incomplete":  # the others are played all the same
                worst = ending
                continue
            await self._stored(partial(self.store.set_event_state, event.slug, ending.how, ending.why))
            if ending.how == "cancelled":
                return ending
        return worst

    async def _stored(self, write: Callable[[], None]) -> None:
        """Write to the store; as long as the disk does not take it, wait and try again, unless somebody interrupts."""
        waits = False
        while True:
            try:
                await trio.to_thread.run_sync(write)
                if waits:
                    self.view.trouble("how a tournament ended is stored now")
                return
            except StoreError as error:
                if error.code != "store_failed" or self.interrupted:
                    raise
                if not waits:
                    self.view.trouble(f"how a tournament ended waits to be stored: {error.message}")
                waits = True
            await self.bell.until(lambda: self.interrupted, self.bell.now() + STORE_PAUSE)

    async def _event(self, event: Event, link: Link, crew: Crew) -> Ending:
        start, patience = self.file.start_seconds, self.file.patience_seconds
        table = Table(event, link, crew, self.place, start, patience, why_left=self.hooks.why_left)
        before, began = event_of(self.store.events(), event.slug).seconds, self.bell.now()
        self._seconds = lambda: before + self.bell.now() - began
        run = self._run = EventRun(
            table=table,
            format=self.hooks.format(event),
            store=self.store,
            bell=self.bell,
            concurrency=self.file.concurrency,
            attempts=self.file.attempts,
            now=self.hooks.now,
            listener=self.view,
            keeper=self.hooks.keeper(event),
            stops=lambda plan, played: self.hooks.stops(event, plan, played, self._seconds()),
        )
        await trio.to_thread.run_sync(self.store.set_event_state, event.slug, "running")
        self.view.shows(run, link)
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._bound_the_drain, run, link, scope)
                ending = await run.run()
                nursery.cancel_scope.cancel()
            await self._note_seconds(event)
            return ending
        with trio.move_on_after(CLOSE_SECONDS):
            for attempt in run.running.values():
                if attempt.room:
                    await link.close(attempt.room, AGAIN)
            with suppress(DeskError):
                # By the first answer we have heard of rooms that were just being prepared, and have them closed; by the
                # second one they are.
                for _ in range(2):
                    await link.request(c.ListPlayers(), within=0)
        return run.orders or Ending("interrupted", INTERRUPTED)

    async def _bound_the_drain(self, run: EventRun, link: Link, scope: trio.CancelScope) -> None:
        """Games that run at an interrupt get their time, and no more.

        None at all if the server has failed, or does not let us in any more: nobody would tell how they end.
        """
        await self.bell.until(lambda: run.orders is not None or self._server_failed(link) is not None)
        if (failed := self._server_failed(link)) is not None:
            run.orders = Ending("interrupted", failed)
        else:
            await self.bell.until(
                lambda: (
                    self._broken_off
                    or (run.orders is not None and run.orders.how == "cancelled")
                    or self._server_failed(link) is not None
                ),
                self.bell.now() + DRAIN_SECONDS,
            )
        run.hurried = True
        with trio.move_on_after(HEARING_SECONDS), suppress(DeskError):
            await link.request(c.ListPlayers(), within=0)  # before its answer we hear of games that are over by now
            await trio.lowlevel.checkpoint()
        for attempt in run.running.values():  # what is decided is still stored; its processes end with everything
            attempt.farewell.cancel()
        scope.cancel()

    def _server_failed(self, link: Link) -> str | None:
        if self.server is not None and self.server.failed is not None:
            return self.server.failed
        return None if link.fatal is None else str(link.fatal)

    async def _say_goodbye(self, link: Link, names: Iterable[str]) -> None:
        with trio.move_on_after(10):
            for name in names:
                sentence = await trio.to_thread.run_sync(self._farewell, name)
                try:
                    await link.request(c.Dismiss(name=name, message=sentence), within=1)
                except DeskRefused:  # it is not there
                    continue
                except DeskError:
                    return
            await self.bell.until(lambda: not link.waiting, self.bell.now() + 2)

    def _farewell(self, name: str) -> str:
        try:
            return self.hooks.farewell(self.store, name)
        except Exception:  # they can be read later: no fault in last words may end more than them
            return "the tournament is over"

    async def _viewing(self) -> None:
        try:
            await self.view.keep()
        except Exception as error:  # no fault in what is merely seen may end the games
            self.view.trouble(f"the view has failed, the games go on: {error}")

    async def _exporting(self) -> None:
        """Renew the exports now and then, when something has changed."""
        pause = 5.0
        while True:
            await trio.sleep(pause)
            began = trio.current_time()
            await trio.to_thread.run_sync(self._export)
            pause = max(5.0, 20 * (trio.current_time() - began))  # never more than a twentieth of the time

    def _export(self) -> str:
        """Renew the exports; what of that can't be done, and why, which is told once."""
        if not self.store.is_in_place():  # nothing of it is to be where somebody begins something else
            return ""
        try:
            self.hooks.export()
        except Exception as error:  # they can be made again at any time: no fault in them may end the games
            fault = str(error)
            if fault not in self._told:
                self._told.add(fault)
                self.view.trouble(f"the exports are not up to date: {fault}")
            return fault
        if self._told:
            self._told.clear()
            self.view.trouble("the exports are up to date again")
        return ""

    async def _watch_store(self) -> None:
        """Notice that somebody has cancelled the tournament from another terminal, or has moved or deleted its folder;
        note for how long it is played.
        """
        while True:
            await trio.sleep(WATCH_SECONDS)
            if self._run is None:
                continue
            if not await trio.to_thread.run_sync(self.store.is_in_place):
                self._run.orders = self._moved = Ending("interrupted", moved(self.folder))
                self.break_off()
                return
            with suppress(StoreError):  # it is told by what matters more; the next look may succeed
                if await trio.to_thread.run_sync(self.store.state) == "cancelled":
                    self._run.orders = Ending("cancelled", "it was cancelled")
                    self.bell.ring()
            await self._note_seconds(self._run.table.event)

    async def _note_seconds(self, event: Event) -> None:
        with suppress(StoreError):  # a full disk is told by what matters more
            await trio.to_thread.run_sync(self.store.set_playing_seconds, event.slug, self._seconds())

    def _close(self, ending: Ending) -> Ending:
        """Store how it ended; what came of that."""
        states: dict[str, TournamentState] = {"finished": "finished", "stopped": "finished", "cancelled": "cancelled"}
        at = self.hooks.now()
        try:
            self.store.give_up_running(TOOL_INTERRUPTED, at)
            state = states.get(ending.how, "interrupted")
            if self.store.set_state(state, ending.why, unless=CANCELLED) == "cancelled":  # in the last moment
                ending = Ending("cancelled", "it was cancelled")
                self.store.cancel_events(ending.why)
            if ending.how == "incomplete":
                self.store.note(Note(at, "incomplete", ending.why))
        except StoreError as error:
            ending = self._moved or Ending("interrupted", error.message)
        if not self.store.is_in_place():
            return Ending("interrupted", moved(self.folder))
        return replace(ending, unwritten=self._export())


def moved(folder: Path) -> str:
    """What has happened to a folder in which the store is not any more."""
    return f"the folder {folder.name} was renamed, moved or deleted while the tournament was played in it"
