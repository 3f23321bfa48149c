"""``triarena tournament export``: the page, the tables, the JSON lines."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from triarena.cli.options import Failure

from .opening import existing, free_processors, told
from .paths import FOLDER


@click.command(epilog="Exit code 0: written; 1: there is no tournament, or the files can't be written; 2: wrong use.")
@FOLDER
def export(folder: Path) -> None:
    """Write the page, the CSV tables and the JSON lines of the tournament in FOLDER anew, also while it runs.

    They lie in the folder: index.html (needs nothing else), standings.csv, games.csv, games.jsonl.

    \b
    $ triarena tournament export class.tournament
    """
    from triarena.organiser.export.writing import NAMES, export_all

    with told():
        place = existing(folder)
        with place.snapshot() as contents:
            file = place.file(contents, free_processors())
            try:
                export_all(place.path, file, contents, datetime.now().astimezone())
            except OSError as error:
                which = error.filename2 or error.filename or place.path
                raise Failure("cannot_write", f"{which} can't be written: {error.strerror or error}") from None
    for name in NAMES:
        click.echo(place.path / name)
