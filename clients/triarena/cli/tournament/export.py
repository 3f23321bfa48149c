"""``triarena tournament export``: the page, the tables, the JSON lines."""

from __future__ import annotations

from pathlib import Path

import click

from .opening import existing, told
from .paths import FOLDER


@click.command(epilog="Exit code 0: written; 1: there is no tournament, or the files can't be written; 2: wrong use.")
@FOLDER
def export(folder: Path) -> None:
    """Write the page, the CSV tables and the JSON lines of the tournament in FOLDER anew, also while it runs.

    They lie in the folder: index.html (needs nothing else), standings.csv, games.csv, games.jsonl.

    \b
    $ triarena tournament export class.tournament
    """
    from triarena.organiser.export.writing import NAMES

    from .renewing import renew

    with told():
        place = existing(folder)
        renew(place)
    for name in NAMES:
        click.echo(place.path / name)
