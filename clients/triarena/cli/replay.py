"""``triarena replay``: a stored match, move by move, checked against the rules."""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import Failure, on_terminal
from .pacing import read_speed
from .storage import journal_explained, journal_url, storage_options
from .times import local

if TYPE_CHECKING:
    from triarena.clients.boards import Drawing
    from triarena.protocol.replay import Replay, Verified

RULE = "-" * 40
WRITTEN = {
    "json": "JSON as triarena replay reads it",
    "software-challenge": "XML as the Software-Challenge's programs read it",
}


@click.command()
@click.argument("match")
@storage_options
@click.option("--boards", is_flag=True, help="Draw the board after every ply.")
@click.option("--ply", type=click.IntRange(0), help="Draw only the board before this ply.")
@click.option(
    "--speed",
    callback=read_speed,
    metavar="PLIES",
    help="Play it like a film, at most so many plies a second; max: as fast as it can be drawn.",
)
@click.option(
    "--export",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the replay to this file, compressed if its name ends with .gz; without --boards nothing is shown.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["json", "software-challenge"]),
    help="Of the exported replay, which is printed without --export.  [default: json]",
)
@click.option("--quiet", is_flag=True, help="Only check it.")
def replay(
    match: str,
    config: Path | None,
    data_dir: Path | None,
    database: str | None,
    boards: bool,
    ply: int | None,
    speed: float | None,
    export: Path | None,
    format_: str | None,
    quiet: bool,
) -> None:
    """Show MATCH move by move, and check it against the rules.

    MATCH is the id of a stored match or the beginning of one (see: triarena matches), or a replay's JSON file.
    Exits with 1 if the rules disagree with what is stored.

    \b
    $ triarena replay 7k2m --boards
    $ triarena replay 7k2m --export final.json
    $ triarena replay final.json --speed 2
    $ triarena replay 7k2m --format software-challenge --export final.xml.gz
    """
    from triarena.protocol.replay import verify

    stored = _find(match, config, data_dir, database)
    verified = verify(stored)
    if ply is not None and ply >= len(verified.positions):
        last = len(verified.positions) - 1
        raise click.BadParameter(f"this match has plies up to {last}", param_hint="--ply")
    document = _document(stored, format_ or "json") if export is not None or format_ is not None else ""
    if export is None and document:
        click.echo(document, nl=False)
        return
    looks = boards or ply is not None or speed is not None
    if not quiet and (looks or export is None):
        _show(stored, verified, boards=boards, ply=ply, speed=speed)
    if export is not None:
        _write(export, document)
        click.echo(f"{export}: written, {WRITTEN[format_ or 'json']}{', compressed' if _compressed(export) else ''}")
    for disagreement in verified.disagreements:
        where = "" if disagreement.ply is None else f"ply {disagreement.ply}: "
        click.echo(f"not by the rules: {where}{disagreement.message}", err=True)
    if verified.disagreements:
        raise Failure("replay_disagrees", f"the rules disagree with match {stored.match}")
    plies = "1 ply" if len(stored.plies) == 1 else f"{len(stored.plies)} plies"
    click.echo(f"match {stored.match}: {plies}, verified by the rules")


def _find(match: str, config: Path | None, data_dir: Path | None, database: str | None) -> Replay:
    from triarena.protocol.replay import BadReplay, from_json

    path = Path(match)
    if path.suffix == ".json" or path.is_file():
        try:
            return from_json(path.read_bytes())
        except OSError as error:
            raise Failure("cannot_read", f"{path} cannot be read: {error.strerror or error}") from None
        except BadReplay as error:
            raise Failure(error.code, f"{path}: {error.message}") from None
    from triarena.server.journal import read_match
    from triarena.server.replays import replay_of

    url = journal_url(config, data_dir, database)
    with journal_explained():
        return replay_of(read_match(url, match))


def _document(stored: Replay, format_: str) -> str:
    """The replay as a text of that format."""
    if format_ == "json":
        from triarena.protocol.replay import to_json

        return to_json(stored) + "\n"
    from triarena.server.socha.replays import NotTheirs, to_xml

    try:
        return to_xml(stored)
    except NotTheirs as error:
        raise Failure(error.code, str(error)) from None


def _compressed(file: Path) -> bool:
    return file.suffix == ".gz"


def _write(file: Path, text: str) -> None:
    data = text.encode()
    try:
        file.write_bytes(gzip.compress(data, mtime=0) if _compressed(file) else data)
    except OSError as error:
        raise Failure("cannot_write", f"{file} cannot be written: {error.strerror or error}") from None


def _show(stored: Replay, verified: Verified, *, boards: bool, ply: int | None, speed: float | None) -> None:
    click.echo(_heading(stored))
    if ply is not None:
        click.echo(_board(stored, verified, ply))
    elif speed is not None:
        _film(stored, verified, speed)
    elif boards:
        for number in range(len(verified.positions)):
            click.echo(RULE)
            click.echo(_board(stored, verified, number))
    else:
        for turned in stored.plies:
            click.echo(f"{turned.ply:4}  {turned.side:<4}  {turned.text}  ({turned.used_ms:.0f} ms)")
        if verified.positions:
            click.echo(_board(stored, verified, len(verified.positions) - 1))
    if ply is None:
        click.echo(_ending(stored))


def _heading(stored: Replay) -> str:
    options = ", ".join(f"{name} {value}" for name, value in stored.options.items())
    return (
        f"match {stored.match}: {stored.game} ({options}; seed {stored.seed}), {local(stored.started_at)}\n"
        f"red {stored.red} against blue {stored.blue}"
    )


def _ending(stored: Replay) -> str:
    from triarena.clients.results import sentence

    return "no result is stored: the match goes on, or broke off" if stored.result is None else sentence(stored.result)


def _frame(stored: Replay, verified: Verified, number: int) -> tuple[str, object, object]:
    """What was played last, the position, and the move that led to it."""
    from triarena.games import find_game

    if number == 0:
        return "the start", verified.positions[0], None
    turned = stored.plies[number - 1]
    move = find_game(stored.game).read_move(turned.move.model_dump())
    return f"ply {turned.ply}, {turned.side}: {turned.text}", verified.positions[number], move


def _board(stored: Replay, verified: Verified, number: int) -> str:
    from triarena.clients.boards import draw, plain

    label, position, move = _frame(stored, verified, number)
    drawing = draw(stored.game, position, move)
    if not on_terminal():
        return f"{label}\n{plain(drawing)}".rstrip("\n")
    return f"{label}\n{_ansi(drawing)}"


def _ansi(drawing: Drawing) -> str:
    """With colours if the extra for them is installed."""
    from triarena.clients.boards import plain

    try:
        from rich.console import Console

        from triarena.clients.boards.paint import paint
    except ImportError:
        return plain(drawing).rstrip("\n")
    console = Console()
    with console.capture() as capture:
        console.print(paint(drawing))
    return capture.get().rstrip("\n")


def _film(stored: Replay, verified: Verified, speed: float) -> None:
    if not on_terminal():
        for number in range(len(verified.positions)):
            click.echo(_board(stored, verified, number))
        return
    from rich.live import Live

    from triarena.clients.boards import draw

    from .scenes import fitted

    with Live(auto_refresh=False, vertical_overflow="crop") as live:
        for number in range(len(verified.positions)):
            label, position, move = _frame(stored, verified, number)
            live.update(fitted(label, draw(stored.game, position, move), live.console.size), refresh=True)
            time.sleep(1 / speed)
