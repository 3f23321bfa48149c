"""``triarena demo``: a real server, real bots as processes of their own, one match of each game."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .children import Children
from .invocation import command
from .options import Failure, administrator, lower, on_terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from triarena.clients.admin import Administrator
    from triarena.clients.spectator import Scene
    from triarena.protocol.from_server import Prepared
    from triarena.protocol.replay import Replay

SHOWN_SECONDS = 10.0
"""How long a match is slowed down for whoever watches; then it is played to its end at full speed."""
PLIES_PER_SECOND = 5.0
DRAWN_EVERY = 20
"""In a pipe, every how many plies the board is drawn."""


@dataclass(frozen=True, slots=True)
class Show:
    """A match of the demo."""

    game: str
    options: dict[str, int | str]
    red: str
    blue: str
    seed: int
    """Of the board and of both bots: a match worth watching, and the same one every time."""


SHOWS = (
    Show("flowerwars", {"size": 6}, "greedy", "random", 8),
    Show("towerwars", {"size": 6}, "random", "greedy", 7),
    Show("mississippi_queen", {}, "greedy", "greedy", 37),
)


@click.command()
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where journal and logs are kept.  [default: demo in the user's data folder]",
)
@click.option("--fast", is_flag=True, help="Do not slow the matches down for the eye.")
def demo(data_dir: Path | None, fast: bool) -> None:
    """Watch one match of each game between the shipped bots, server included.

    Starts a server on a free port of this machine and every bot as a process of its own; they play over TCP.
    Everything is kept, and the commands that replay the matches are printed at the end.

    \b
    $ triarena demo
    """
    folder = _folder(data_dir)
    began = time.monotonic()
    with Children(folder) as children:
        click.echo("starting a server ...")
        port = children.serve(folder)
        click.echo(f"it listens on 127.0.0.1:{port}, its data and logs are in {folder}")
        played: list[str] = []
        with administrator("127.0.0.1", port, None, folder / "admin-secret") as admin:
            for number, show in enumerate(SHOWS, 1):
                click.echo(f"\nmatch {number} of {len(SHOWS)}: {show.game}, red {show.red} against blue {show.blue}")
                played.append(_play(children, admin, show, port, slow=on_terminal() and not fast))
    click.echo(f"\nthree matches in {time.monotonic() - began:.0f} s:")
    for match in played:
        _report(folder, match)


def _folder(data_dir: Path | None) -> Path:
    if data_dir is None:
        from platformdirs import user_data_dir

        data_dir = Path(user_data_dir("triarena", appauthor=False)) / "demo"
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure("cannot_write", f"{data_dir} cannot be made: {error.strerror or error}") from None
    return data_dir.absolute()


def _play(children: Children, admin: Administrator, show: Show, port: int, *, slow: bool) -> str:
    """Play one match to its end, drawing it; its name in the journal."""
    from triarena.protocol.from_client import Slot

    slots = [Slot(name=f"{show.red}-red"), Slot(name=f"{show.blue}-blue")]
    prepared = admin.prepare(show.game, show.options, seed=show.seed, slots=slots, paused=True)
    processes = []
    for side, bot, code in zip(("red", "blue"), (show.red, show.blue), prepared.reservations, strict=True):
        where = ["--port", str(port), "--reservation", str(code)]
        processes.append(
            children.start(f"{show.game}-{side}", ["join", "--game", show.game, *where, "--seed", str(show.seed), bot])
        )
    _wait_for_players(children, admin, prepared)
    match = _watch(children, admin, prepared.room, slow=slow)
    for process in processes:
        children.wait(process)
    return match


def _wait_for_players(children: Children, admin: Administrator, prepared: Prepared) -> None:
    deadline = time.monotonic() + 60
    while not all(_taken(admin, prepared)):
        children.check()
        if time.monotonic() > deadline:
            raise Failure("bots_missing", "the bots did not take their seats within a minute; see their logs")
        time.sleep(0.05)


def _taken(admin: Administrator, prepared: Prepared) -> list[bool]:
    info = next(room for room in admin.rooms() if room.room == prepared.room)
    return [info.red.connected, info.blue.connected]


def _watch(children: Children, admin: Administrator, room: str, *, slow: bool) -> str:
    """Follow a room that was prepared paused, ply by ply while it is slowed down; the match's name."""
    from triarena.clients.backoff import Backoff
    from triarena.clients.spectator import watch

    match, until, granted = "", time.monotonic() + (SHOWN_SECONDS if slow else 0), -1
    with ExitStack() as stack:
        show = _screen(stack)
        # The server is ours and on this machine: it is not lost, it has failed.
        for scene in watch(admin.connection, room, backoff=Backoff(patience=0)):
            show(scene)
            match = scene.info.match or match
            children.check()
            over = scene.result is not None or (scene.position is not None and scene.position.outcome is not None)
            if over or granted >= scene.info.ply:
                continue  # the result comes by itself, and so does the ply that was granted
            if time.monotonic() < until:
                time.sleep(1 / PLIES_PER_SECOND if scene.text else 0)
                admin.step(room)
                granted = scene.info.ply
            else:
                admin.resume(room)
                granted = 10**9
    return match


def _screen(stack: ExitStack) -> Callable[[Scene], None]:
    """How scenes are shown: renewed in place on a terminal, else every so often one below the other."""
    from .scenes import RULE, as_rich, as_text

    if on_terminal():
        from rich.live import Live

        live = stack.enter_context(Live(auto_refresh=False, vertical_overflow="crop"))
        return lambda scene: live.update(as_rich(scene, live.console.size), refresh=True)

    def show(scene: Scene) -> None:
        if scene.position is not None and (scene.info.ply % DRAWN_EVERY == 0 or scene.result is not None):
            click.echo(as_text(scene))
            click.echo(RULE)

    return show


def _report(folder: Path, match: str) -> None:
    from triarena.clients.results import sentence
    from triarena.protocol.replay import verify
    from triarena.server.journal import JournalError, read_match
    from triarena.server.replays import replay_of

    from .storage import journal_url

    try:
        stored: Replay = replay_of(read_match(journal_url(None, folder, None), match))
    except JournalError as error:
        raise Failure(error.code, lower(error.message)) from None
    if verify(stored).disagreements:
        raise Failure("replay_disagrees", f"the rules disagree with match {match}; please report it")
    if stored.result is None or stored.result.kind != "outcome":
        raise Failure("demo_failed", f"match {match} did not end by the rules; see the logs in {folder}")
    click.echo(f"  {stored.game}: {sentence(stored.result)}")
    see = command("replay", match, "--data-dir", str(folder), "--boards")
    click.echo(f"    {len(stored.plies)} plies, verified; see it: {see}")
