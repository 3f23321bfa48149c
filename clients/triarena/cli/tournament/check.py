"""``triarena tournament check``: is the file right, and can every bot play?"""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from triarena.cli.options import Failure

from .opening import read_file
from .paths import FILE

if TYPE_CHECKING:
    from triarena.organiser.folder import Folder
    from triarena.organiser.records import Contents
    from triarena.organiser.spec import Event, TournamentFile


OURS = ("dismissed: ", "waiting for the ")
"""How lines begin that the bot's client has printed, not the bot."""


@click.command(
    epilog="Exit code 0: the file is right and all bots play; 1: a bot fails; 2: wrong use, or a faulty file."
)
@FILE
@click.option("--dry-run", is_flag=True, help="Look at the file only; start no bot.")
def check(file: Path, dry_run: bool) -> None:
    """Check the tournament that FILE describes, and try each of its local bots in a game against a random one.

    The faults of the file are told together, with their lines; what is no TOML hides the others. A bot passes if it
    plays its game without a fault of its own, won or lost; else the reason and the last lines that it printed are
    shown, and the exit code is 1.

    \b
    $ triarena tournament check class.toml
    $ triarena tournament check class.toml --dry-run
    """
    described = read_file(file)
    click.echo(f"{file}: the file is right: {_contents(described)}")
    from .owners import host_of, out_of_reach, remote_names

    if warning := out_of_reach(described, host_of(described)):
        click.echo(warning)
    if dry_run:
        return
    remote = remote_names(described)
    faults = _try(file, described)
    if remote:
        click.echo(f"not tried, since their owners start them: {', '.join(remote)}")
    if faults:
        raise Failure("bots_fail", f"{faults} of the trials failed; see above")


def _contents(file: TournamentFile) -> str:
    from triarena.organiser.wording import counted

    events = ", ".join(
        f"{event.name} ({event.game}, {event.format}, {counted(len(event.players), 'bot')})" for event in file.events
    )
    return f"{counted(len(file.players), 'bot')}, {counted(len(file.events), 'tournament')}: {events}"


def _try(source: Path, described: TournamentFile) -> int:
    """Play the trials, and say how each went; how many failed."""
    from triarena.organiser.folder import Folder
    from triarena.organiser.trial import trial

    from .running import broken_off, play
    from .screen import Lines
    from .server_choice import Choice

    trials = trial(described)
    if not trials.events:
        return 0
    with tempfile.TemporaryDirectory(prefix="triarena-check-") as folder:
        place = Folder(Path(folder))
        with place.make(source, trials, datetime.now(UTC)) as store:
            silent = Lines(store.summary, lambda sentence: None)
            ending = play(place, store, trials, Choice(), silent)
            contents = store.contents()
        if ending.how not in ("finished", "incomplete"):
            broken_off(ending, "the trials were broken off")
        return sum(_told(place, event, contents) for event in trials.events)


def _told(place: Folder, event: Event, contents: Contents) -> int:
    """Say how the trials of one game went; how many failed."""
    from triarena.organiser.pairing import format_of
    from triarena.organiser.trial import tried, verdict
    from triarena.organiser.wording import counted, kind

    results = {each.played.fixture.id: each for each in contents.results if each.event == event.slug}
    failed = 0
    for fixture in format_of(event).plan({}).fixtures():
        bot, result = tried(event, fixture), results.get(fixture.id)
        who = f"{bot}, {event.game}"
        if result is not None and verdict(bot, result.played) is None:
            winner = result.played.winner_name
            outcome = "drew" if winner is None else "won" if winner == bot else "lost"
            plies = counted(result.played.plies, "ply", "plies")
            click.echo(f"\N{CHECK MARK} {who}: it {outcome} against a random bot in {plies}")
            continue
        failed += 1
        if result is None:
            tries = [each for each in contents.attempts if (each.event, each.fixture) == (event.slug, fixture.id)]
            click.echo(f"\N{BALLOT X} {who}: it could not be tried: {tries[-1].why if tries else 'no reason is known'}")
            continue
        side = "red" if fixture.red == bot else "blue"
        which = "" if bot in result.message else f" (it was {side})"
        click.echo(f"\N{BALLOT X} {who}: {kind(result.played)}: {result.message}{which}")
        for line in _last_words(place, bot):
            click.echo(f"    | {line}")
    return failed


def _last_words(place: Folder, bot: str) -> list[str]:
    logs = sorted(place.logs.glob(f"{bot}-*.log"), key=lambda log: log.stat().st_mtime)
    if not logs:
        return []
    lines = logs[-1].read_text(encoding="utf-8", errors="replace").splitlines()
    return [line for line in lines if not line.startswith(OURS)][-8:]
