"""Running a tournament's folder to its end: what ``run``, ``resume``, ``check`` and ``compare`` share."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NoReturn

import click
import trio

from triarena.cli.invocation import command
from triarena.cli.options import Failure, find_secret, terminal_width
from triarena.organiser.bell import Bell
from triarena.organiser.campaign import INTERRUPTED, Campaign, Hooks, View
from triarena.organiser.claim import claim_folder
from triarena.organiser.crew import Place
from triarena.organiser.embedded import EmbeddedServer
from triarena.organiser.export.writing import export_newest
from triarena.organiser.folder import Folder
from triarena.organiser.link import Access
from triarena.organiser.live import plain_view
from triarena.organiser.pairing import format_of
from triarena.organiser.records import Source
from triarena.organiser.report import EventReport, report_tournament
from triarena.organiser.runner import Ending
from triarena.organiser.spec import TournamentFile
from triarena.organiser.stopping import why_stop
from triarena.organiser.store import Store, StoreReader
from triarena.organiser.wording import OBVIOUS

from .evidence import Evidence, Farewells
from .owners import host_of, instructions, remote_names
from .reaching import port_of
from .screen import view_of
from .server_choice import Choice

OF_A_MOVED_FOLDER: Final = (
    "What was played lies wherever the folder is now: go on with 'triarena tournament resume' and its new name. If it "
    "was deleted, the tournament is lost"
)
SIGNALS: Final = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def play(folder: Folder, store: Store, file: TournamentFile, where: Choice, view: View) -> Ending:
    """Run what is left of a tournament; everything is stored and exported when this returns."""
    with claim_folder(folder.path):
        return trio.run(_play, folder, store, file, where, view)


async def _play(folder: Folder, store: Store, file: TournamentFile, where: Choice, view: View) -> Ending:
    bell = Bell()
    server = None if where.running is not None else _embedded(folder, file, where, view, bell)
    access, place = (server.access, server.place) if server is not None else _running(folder, file, where, view)
    own = server is not None
    evidence = Evidence(folder, _journal(folder) if own else where.database, own, store.is_in_place)
    farewells = Farewells(file)
    campaign = Campaign(
        file=file,
        folder=folder.path,
        store=store,
        hooks=Hooks(
            format=format_of,
            stops=why_stop,
            farewell=lambda store, name: farewells.of(name, store.summary),
            export=lambda: _export(folder, file),
            keeper=evidence.keeper,
            why_left=evidence.why_left,
            now=lambda: datetime.now(UTC),
        ),
        view=view,
        server=server,
        access=access,
        place=place,
        bell=bell,
    )
    async with trio.open_nursery() as nursery:
        await nursery.start(_watch_signals, campaign, view)
        ending = await campaign.run()
        nursery.cancel_scope.cancel()
    return ending


def _embedded(folder: Folder, file: TournamentFile, where: Choice, view: View, bell: Bell) -> EmbeddedServer:
    remote = bool(remote_names(file))
    host = where.host or host_of(file)
    announced: list[int] = []

    def listens(place: Place) -> None:
        if remote and not announced:
            announced.append(place.port)
            tell(place.port)

    def tell(port: int) -> None:
        for line in instructions(folder, file, host, port, running=False, public_host=where.public_host):
            view.trouble(line)

    port = port_of(where, file)
    if remote and port:  # it will be this one, so nobody need wait for the server to give the commands away
        announced.append(port)
        tell(port)
    return EmbeddedServer(
        folder=folder.server,
        log=folder.logs / "server.log",
        host=host,
        port=port,
        settings=file.server_environment,
        bell=bell,
        trouble=view.trouble,
        listens=listens,
    )


def _running(
    folder: Folder, file: TournamentFile, where: Choice, view: View
) -> tuple[Callable[[], Access | None], Callable[[], Place | None]]:
    assert where.running is not None
    host, port = where.running
    access = Access(host, port, find_secret(where.secret, where.secret_file))
    for line in instructions(folder, file, host, port, running=True, public_host=where.public_host):
        view.trouble(line)
    return lambda: access, lambda: Place(host, port)


def _journal(folder: Folder) -> str:
    from urllib.parse import quote

    return "sqlite:///" + quote((folder.server / "journal.sqlite3").absolute().as_posix(), safe="/:")


def _export(folder: Folder, file: TournamentFile) -> None:
    """By a connection of its own: games are stored meanwhile."""

    @contextmanager
    def read() -> Iterator[tuple[TournamentFile, Source]]:
        with StoreReader(folder.path) as reader, reader.snapshot() as contents:
            yield file, contents

    export_newest(folder.path, read, lambda: datetime.now().astimezone())


async def _watch_signals(  # noqa: ASYNC114 - ASYNC113 is not asked of it
    campaign: Campaign, view: View, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """The first signal lets running games end, the second breaks them off."""
    with trio.open_signal_receiver(*SIGNALS) as signals:
        task_status.started()
        count = 0
        async for number in signals:
            count += 1
            if count == 1 and number == signal.SIGINT:
                view.trouble("interrupted: running games may end, nothing new is started; once more to stop at once")
                campaign.interrupt()
            else:
                campaign.break_off()


def run_shown(
    folder: Folder,
    store: Store,
    file: TournamentFile,
    where: Choice,
    verdict: Callable[[EventReport], str] | None = None,
) -> None:
    """Run it before the organiser's eyes; say how it ended and what can be done now. The exit code tells it, too."""
    with view_of(store.summary) as view:
        ending = play(folder, store, file, where, view)
    with store.snapshot() as contents:
        for event in report_tournament(file, contents).events:
            if event.progress.done:
                click.echo("\n" + plain_view(event, terminal_width()))
                if verdict is not None:
                    click.echo("\n" + verdict(event))
    if not store.is_in_place():
        broken_off(ending, "interrupted", f" {OF_A_MOVED_FOLDER}")
    shown = relative(folder.path)
    if not ending.unwritten:
        click.echo(f"\neverything is in {shown}; the page is {relative(folder.page)}")
        _conclude(ending, command("tournament", "resume", shown))  # which knows the options
        return
    click.echo(f"\nwhat was played is stored in {shown}, but not all of its page and tables is up to date")
    unwritten = f"{ending.unwritten.rstrip('.')}; write them anew with: {command('tournament', 'export', shown)}"
    if ending.how not in ("finished", "stopped"):  # these are no success anyway
        click.echo(unwritten, err=True)
    _conclude(ending, command("tournament", "resume", shown))
    raise Failure("cannot_write", unwritten)


def _conclude(ending: Ending, resume: str) -> None:
    match ending.how:
        case "finished":
            return
        case "stopped":
            click.echo(f"it was ended early: {ending.why}")
        case "cancelled":
            raise Failure("cancelled", "the tournament was cancelled; what was played is kept")
        case "incomplete":
            raise Failure("incomplete", f"{ending.why}; try them again with: {resume}")
        case "interrupted":
            kept = "What is stored is kept; games whose results could not be stored are played again"
            kept = kept if ending.unstored else "Nothing that was played is lost"
            broken_off(ending, "interrupted", f" {kept}; go on with:\n  {resume}")


def broken_off(ending: Ending, what: str, then: str = "") -> NoReturn:
    """End the command: with the exit code of an interrupt if somebody wanted it so, else with that of a failure."""
    why = "" if ending.why in OBVIOUS else f": {ending.why.rstrip('.')}"
    click.echo(f"{what}{why}.{then}", err=True)
    sys.exit(130 if ending.why == INTERRUPTED else 1)


def relative(path: Path) -> str:
    """As short as it can be typed."""
    with suppress(ValueError):
        return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
    return str(path)
