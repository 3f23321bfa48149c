"""``triarena tournament cancel``: end a tournament for good."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .opening import existing, free_processors, told
from .paths import FOLDER

if TYPE_CHECKING:
    from triarena.organiser.folder import Folder


@click.command(epilog="Exit code 0: it is over, by this or already before; 1: there is no tournament; 2: wrong use.")
@FOLDER
def cancel(folder: Path) -> None:
    """End the tournament in FOLDER for good: what was played stays, nothing more is played.

    A tool that runs it notices within a second or two, breaks the running games off, and ends.

    \b
    $ triarena tournament cancel class.tournament
    """
    from triarena.organiser.claim import claim_folder
    from triarena.organiser.records import OVER, TOURNAMENT_CANCELLED, StoreError
    from triarena.organiser.store import Store

    with told():
        place = existing(folder)
        with Store(place.path) as store:
            state = store.set_state("cancelled", "it was cancelled", unless=OVER)
            if state in OVER:
                click.echo(f"the tournament in {folder} is {state} already; nothing was changed")
                return
            try:
                with claim_folder(place.path, patience=0.2):
                    store.give_up_running(TOURNAMENT_CANCELLED, datetime.now(UTC))
                    _show(place)
            except StoreError as error:
                if error.code != "folder_in_use":  # who runs it does the rest
                    raise
    click.echo(f"the tournament in {folder} is cancelled")


def _show(place: Folder) -> None:
    """Let the page say so, if it can be written."""
    from triarena.organiser.export.writing import export_all

    with place.snapshot() as contents, suppress(OSError):
        export_all(place.path, place.file(contents, free_processors()), contents, datetime.now().astimezone())
