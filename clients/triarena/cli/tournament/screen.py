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
from triarena.organiser.records import Source, StoreError
from triarena.organiser.report import EventReport, report_event
from triarena.organiser.runner import EventRun
from triarena.organiser.wording import brief, counted, game_title, listed, reason, seconds, winners
from triarena.tournament.schedule import waits
from triarena.tournament.tally import UNPLAYED

if TYPE_CHECKING:
    from rich.live import Live as Painting

    from triarena.organiser.campaign import View

NUMBERS: Final = "a game's number is round.table.game: 2.3.1 is the first game at table 3 of round 2; red stands first"
"""How the games' numbers are to be read."""
STARTING: Final = "starting the server"
WAITS_SECONDS: Final = 10.0
"""How often lines say who waits for whom."""
SUMMARY_SECONDS: Final = 60.0
"""How often lines say how far it is."""
REFRESH_SECONDS: Final = 1.0
COST: Final = 20
"""Of the time, at most one in so many parts goes into what is seen."""


class Lines:
    """One line for each thing that happens."""

    def __init__(self, contents: Callable[[], Source], say: Callable[[str], object] = click.echo) -> None:
        self.run: EventRun | None = None
        self.link: Link | None = None
        self._begun: float | None = None
        self._contents = contents
        self._told = say

    def _say(self, sentence: str) -> None:
        """Nobody may be there to read it: a terminal that was closed, or the end of a pipe, ends no game."""
        with suppress(OSError, ValueError):
            self._told(sentence)

    def shows(self, run: EventRun, link: Link) -> None:
        """A tournament begins, or goes on: a headline, after who has won the one before."""
        self._turn_to(run, link)
        event, least = run.table.event, run.format.number_of_games()[0]
        done = len(run.store.played(event.slug))
        so_far = f", {done} of them played" if done else ""
        games = f"at most {counted(least, 'game')}" if event.stop.sprt is not None else counted(least, "game")
        self._say(f"=== {event.name}: {game_title(event)}, {counted(len(event.players), 'bot')}, {games}{so_far} ===")

    def _turn_to(self, run: EventRun, link: Link) -> None:
        """Say who has won the tournament before this one, and look at this one."""
        with suppress(StoreError):
            if (report := self.report()) is not None and (said := winners(report)) is not None:
                self._say(said)
        self.run, self.link = run, link
        if self._begun is None:
            self._begun = trio.current_time()
            self._say(NUMBERS)

    def began(self, attempt: Attempt) -> None:
        """A game is tried."""

    def ended(self, attempt: Attempt, outcome: Outcome) -> None:
        """And that came of it."""
        self._say(line_of(attempt, outcome))

    def trouble(self, sentence: str) -> None:
        """Something that the organiser should know."""
        self._say(sentence)

    async def keep(self) -> None:
        """Say who waits when others are waited for than before, and now and then how far it is."""
        said: set[str] = set()
        summary = trio.current_time() + SUMMARY_SECONDS
        while True:
            await trio.sleep(WAITS_SECONDS)
            waiting = who_waits(self.run, self.link)
            for whom, sentence in waiting.items():
                if whom not in said:
                    self._say(sentence)
            said = set(waiting)
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
            return report_event(self.run.table.event, self._contents(), self.run.concurrency, self.run.format)
        except StoreError:
            return None


class Painted(Lines):
    """A table that renews itself; what else there is to say stands above it."""

    def __init__(self, contents: Callable[[], Source], painting: Painting) -> None:
        # A command that is broken into lines could not be copied.
        super().__init__(contents, partial(painting.console.print, soft_wrap=True))
        self._painting = painting
        self._irregular: set[tuple[str, str]] = set()
        """Forfeits that were told: by whom, why, and what the referee said."""

    def shows(self, run: EventRun, link: Link) -> None:
        """A tournament begins, or goes on; who has won the one before stays above the table."""
        self._turn_to(run, link)

    def ended(self, attempt: Attempt, outcome: Outcome) -> None:
        """Only what is out of the ordinary is said, and once: the table shows the rest, and counts."""
        if not isinstance(outcome, Sporting):
            self._say(line_of(attempt, outcome))
        elif outcome.irregular and (told := _fault(outcome)) not in self._irregular:
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
        waits = self._waits(now)
        live = Live(report, datetime.now().astimezone(), running, waits)
        self._painting.update(live_view(live, size.width, size.height), refresh=True)

    def _waits(self, now: float) -> tuple[str, ...]:
        if self.run is None or self.link is None:
            return ()
        if is_starting(self.link) and self._begun is not None:
            return (f"{STARTING} … {seconds(round(now - self._begun))}",)
        absent = self.run.waiting.brief() if self.link.open else ()
        return (*absent, *who_waits(self.run, self.link).values())


def _fault(outcome: Sporting) -> tuple[str, str]:
    """What makes a forfeit the same as one that was told: of an absence only whose it is, for it only grows longer."""
    why = reason(outcome.played)
    return why, "" if outcome.played.reason in UNPLAYED else outcome.message


def line_of(attempt: Attempt, outcome: Outcome) -> str:
    """One line about the end of an attempt."""
    fixture = attempt.fixture
    names = f"{fixture.id:>8}  {fixture.red} - {fixture.blue}"
    if not isinstance(outcome, Sporting):
        return f"{names}  is to be played again: {brief(outcome.message)}"
    played = outcome.played
    drawn = "0-0" if played.offenders else "\N{VULGAR FRACTION ONE HALF}-\N{VULGAR FRACTION ONE HALF}"
    points = {"red": "1-0", "blue": "0-1"}.get(played.winner or "", drawn)
    if played.reason in UNPLAYED:  # the sentence says it all
        return f"{names}  {points}  {brief(outcome.message)}"
    why = f": {brief(outcome.message)}" if played.offenders else ""
    return f"{names}  {points}  {reason(played)}, {counted(played.plies, 'ply', 'plies')}{why}"


def is_starting(link: Link) -> bool:
    """Whether the tournament's own server has not listened yet."""
    return not link.open and link.losses == 0 and link.trouble is not None and link.trouble.code == "no_server"


def who_waits(run: EventRun | None, link: Link | None) -> dict[str, str]:
    """Why less is being played than could be, by whom is waited for: the server is away, or players are.

    That those are away, and until when they are waited for, is told elsewhere.
    """
    if run is None or link is None:
        return {}
    if not link.open:
        said = STARTING if is_starting(link) else f"waiting for the server: {link.trouble}"
        return {"the server": said} if link.trouble is not None else {}
    if len(run.running) >= run.concurrency:
        return {}
    done = {*run.played, *run.given_up}
    together: dict[str, list[str]] = {}
    for wait in waits(run.plan, done, run.running, run.table.present()):
        if wait.cause == "absent":
            together.setdefault(listed(sorted(wait.whom)), []).append(wait.player)
    return {
        whom: f"{listed(players)} {'waits' if len(players) == 1 else 'wait'} for {whom}"
        for whom, players in together.items()
    }


@contextmanager
def view_of(contents: Callable[[], Source]) -> Iterator[View]:
    """What is shown here: a table where it can be renewed, lines where not."""
    if not on_terminal():
        yield Lines(contents)
        return
    from rich.console import Console
    from rich.live import Live as Painting

    console = Console(highlight=False, markup=False)
    with Painting(console=console, auto_refresh=False, vertical_overflow="crop", transient=True) as painting:
        yield Painted(contents, painting)
