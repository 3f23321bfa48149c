"""What the organiser sees while a tournament runs: a table that renews itself in a terminal, lines in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

import click
import trio

from triarena.cli.options import on_terminal
from triarena.organiser.attempt import Attempt, Outcome, Sporting
from triarena.organiser.link import Link
from triarena.organiser.live import Live, RunningGame, live_view, plain_view
from triarena.organiser.records import Contents, StoreError
from triarena.organiser.report import EventReport, report_event
from triarena.organiser.runner import EventRun
from triarena.organiser.wording import counted, reason

if TYPE_CHECKING:
    from rich.live import Live as Painting

    from triarena.organiser.campaign import View

WAITS_SECONDS: Final = 10.0
"""How often lines say who waits for whom."""
SUMMARY_SECONDS: Final = 60.0
"""How often lines say how far it is."""
REFRESH_SECONDS: Final = 1.0
COST: Final = 20
"""Of the time, at most one in so many parts goes into what is seen."""


class Lines:
    """One line for each thing that happens."""

    def __init__(self, contents: Callable[[], Contents], say: Callable[[str], object] = click.echo) -> None:
        self.run: EventRun | None = None
        self.link: Link | None = None
        self._contents = contents
        self._told = say

    def _say(self, sentence: str) -> None:
        """Nobody may be there to read it: a terminal that was closed, or the end of a pipe, ends no game."""
        with suppress(OSError, ValueError):
            self._told(sentence)

    def shows(self, run: EventRun, link: Link) -> None:
        """A tournament begins, or goes on."""
        self.run, self.link = run, link
        event, least = run.table.event, run.format.number_of_games()[0]
        done = len(run.store.played(event.slug))
        so_far = f", {done} of them played" if done else ""
        self._say(f"{event.name}: {event.game}, {counted(len(event.players), 'bot')}, {counted(least, 'game')}{so_far}")

    def began(self, attempt: Attempt) -> None:
        """A game is tried."""

    def ended(self, attempt: Attempt, outcome: Outcome) -> None:
        """And that came of it."""
        self._say(line_of(attempt, outcome))

    def trouble(self, sentence: str) -> None:
        """Something that the organiser should know."""
        self._say(sentence)

    async def keep(self) -> None:
        """Say who waits for whom when that has changed, and now and then how far it is."""
        said: list[str] = []
        summary = trio.current_time() + SUMMARY_SECONDS
        while True:
            await trio.sleep(WAITS_SECONDS)
            waiting = who_waits(self.run, self.link)
            if waiting and waiting != said:
                self._say("\n".join(waiting))
            said = waiting
            if trio.current_time() >= summary:
                report = await trio.to_thread.run_sync(self.report)
                if report is not None:
                    self._say(plain_view(report))
                summary = trio.current_time() + SUMMARY_SECONDS

    def report(self) -> EventReport | None:
        """How the present tournament stands; blocks."""
        if self.run is None:
            return None
        try:
            return report_event(self.run.table.event, self._contents(), self.run.concurrency)
        except StoreError:
            return None


class Painted(Lines):
    """A table that renews itself; what else there is to say stands above it."""

    def __init__(self, contents: Callable[[], Contents], painting: Painting) -> None:
        # A command that is broken into lines could not be copied.
        super().__init__(contents, partial(painting.console.print, soft_wrap=True))
        self._painting = painting
        self._irregular: set[tuple[str, str]] = set()
        """Forfeits that were told: by whom, why, and what the referee said."""

    def shows(self, run: EventRun, link: Link) -> None:
        """A tournament begins, or goes on; the last one's table stays."""
        self.run, self.link = run, link

    def ended(self, attempt: Attempt, outcome: Outcome) -> None:
        """Only what is out of the ordinary is said, and once: the table shows the rest, and counts."""
        if not isinstance(outcome, Sporting):
            self._say(line_of(attempt, outcome))
        elif outcome.irregular and (told := (reason(outcome.played), outcome.message)) not in self._irregular:
            self._irregular.add(told)
            self._say(line_of(attempt, outcome))

    async def keep(self) -> None:
        """Paint, until cancelled."""
        while True:
            began = trio.current_time()
            report = await trio.to_thread.run_sync(self.report)
            if report is not None:
                self.paint(report)
            await trio.sleep(max(REFRESH_SECONDS, COST * (trio.current_time() - began)))

    def paint(self, report: EventReport) -> None:
        """Show how it stands now."""
        now, size = trio.current_time(), self._painting.console.size
        running = tuple(
            RunningGame(each.fixture.id, each.fixture.red, each.fixture.blue, each.state, now - each.began)
            for each in (self.run.running.values() if self.run is not None else ())
        )
        absent = self.run.awaiting() if self.run is not None else []
        waits = (*absent, *who_waits(self.run, self.link))
        live = Live(report, datetime.now().astimezone(), running, waits)
        self._painting.update(live_view(live, size.width, size.height), refresh=True)


def line_of(attempt: Attempt, outcome: Outcome) -> str:
    """One line about the end of an attempt."""
    fixture = attempt.fixture
    names = f"{fixture.id:>8}  {fixture.red} - {fixture.blue}"
    if not isinstance(outcome, Sporting):
        return f"{names}  is to be played again: {outcome.message}"
    played = outcome.played
    drawn = "0-0" if played.offenders else "\N{VULGAR FRACTION ONE HALF}-\N{VULGAR FRACTION ONE HALF}"
    points = {"red": "1-0", "blue": "0-1"}.get(played.winner or "", drawn)
    why = f": {outcome.message}" if played.offenders else ""
    return f"{names}  {points}  {reason(played)}, {counted(played.plies, 'ply', 'plies')}{why}"


def who_waits(run: EventRun | None, link: Link | None) -> list[str]:
    """Why less is being played than could be: the server is away, or players are."""
    from triarena.tournament.schedule import waits

    if run is None or link is None:
        return []
    if not link.open:
        return [f"waiting for the server: {link.trouble}"] if link.trouble is not None else []
    awaited = run.awaiting()
    if len(run.running) >= run.concurrency:
        return awaited
    done = {*run.played, *run.given_up}
    waiting = waits(run.plan, done, run.running, run.table.present())
    return awaited + [str(wait) for wait in waiting if wait.cause == "absent"]


@contextmanager
def view_of(contents: Callable[[], Contents]) -> Iterator[View]:
    """What is shown here: a table where it can be renewed, lines where not."""
    if not on_terminal():
        yield Lines(contents)
        return
    from rich.console import Console
    from rich.live import Live as Painting

    console = Console(highlight=False, markup=False)
    with Painting(console=console, auto_refresh=False, vertical_overflow="crop", transient=True) as painting:
        yield Painted(contents, painting)
