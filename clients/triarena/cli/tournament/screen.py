"""What the organiser sees while a tournament runs: lines in a pipe, a table that renews itself in a terminal."""

from __future__ import annotations

import time

import click
import trio

from triarena.organiser.attempt import Attempt, Outcome, Sporting
from triarena.organiser.link import Link
from triarena.organiser.runner import EventRun

EVERY: float = 10.0


class Lines:
    """One line for each thing that happens."""

    def __init__(self) -> None:
        self._run: EventRun | None = None
        self._link: Link | None = None
        self._began = time.monotonic()

    def shows(self, run: EventRun, link: Link) -> None:
        """A tournament begins, or goes on."""
        self._run, self._link = run, link
        event, left = run.table.event, len(run.left())
        more = "" if run.plan.complete else " at least"
        click.echo(f"{event.name}: {event.game}, {len(event.players)} bots, {left} games to play{more}")

    def began(self, attempt: Attempt) -> None:
        """A game is tried."""

    def ended(self, attempt: Attempt, outcome: Outcome) -> None:
        """And that came of it."""
        fixture = attempt.fixture
        names = f"{fixture.id:>8}  {fixture.red} - {fixture.blue}"
        if not isinstance(outcome, Sporting):
            click.echo(f"{names}: to be played again: {outcome.message}")
            return
        played = outcome.played
        points = (
            "1-0"
            if played.winner == "red"
            else "0-1"
            if played.winner == "blue"
            else "0-0"
            if played.offenders
            else "½-½"
        )
        why = f": {outcome.message}" if played.offenders else ""
        click.echo(f"{names}  {points}  {played.reason}, {played.plies} plies{why}")

    def trouble(self, sentence: str) -> None:
        """Something that the organiser should know."""
        click.echo(sentence)

    async def keep(self) -> None:
        """Say who waits for whom, when that has changed."""
        said: tuple[str, ...] = ()
        while True:
            await trio.sleep(EVERY)
            waiting = tuple(who_waits(self._run, self._link))
            if waiting and waiting != said:
                click.echo("\n".join(waiting))
            said = waiting


def who_waits(run: EventRun | None, link: Link | None) -> list[str]:
    """Why nothing is being played, if nothing is."""
    from triarena.tournament.schedule import waits

    if run is None or link is None or run.running:
        return []
    if not link.open:
        return [f"waiting for the server: {link.trouble}"]
    done = {*run.played, *run.given_up}
    return [str(wait) for wait in waits(run.plan, done, run.running, run.table.available()) if wait.cause == "absent"]
