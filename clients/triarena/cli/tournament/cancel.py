"""``triarena tournament cancel``: end a tournament for good."""

from __future__ import annotations

from pathlib import Path

import click

from .opening import FOLDER, existing, told


@click.command()
@FOLDER
def cancel(folder: Path) -> None:
    """End the tournament in FOLDER for good: what was played stays, nothing more is played.

    A tool that runs it notices within a second or two, breaks the running games off, and ends.
    """
    from triarena.organiser.store import Store

    with told():
        place = existing(folder)
        with Store(place.path) as store:
            state = store.state()
            if state in ("finished", "cancelled"):
                click.echo(f"the tournament in {folder} is {state} already; nothing was changed")
                return
            store.set_state("cancelled", "it was cancelled")
    click.echo(f"the tournament in {folder} is cancelled")
