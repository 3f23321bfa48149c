"""``triarena tournament cancel``: end a tournament for good."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from triarena.cli.options import Failure

from .opening import existing, told
from .paths import FOLDER
from .renewing import RENEWED, WHY, finish_cancelled

if TYPE_CHECKING:
    from triarena.organiser.folder import Folder
    from triarena.organiser.store import Store


@click.command(
    epilog="Exit code 0: it is over, by this or already before; 1: there is no tournament, or its page can't be "
    "written; 2: wrong use."
)
@FOLDER
def cancel(folder: Path) -> None:
    """End the tournament in FOLDER for good: what was played stays, nothing more is played.

    A tool that runs it notices within a second or two, breaks the running games off, and ends.

    \b
    $ triarena tournament cancel class.tournament
    """
    from triarena.organiser.records import OVER
    from triarena.organiser.store import Store

    with told():
        place = existing(folder)
        with Store(place.path) as store:
            state = store.set_state("cancelled", WHY, unless=OVER)
            if state == "finished":
                said = "is finished already; nothing was changed"
            elif not _finished(place, store):  # who runs it does the rest
                said = "is cancelled already; nothing was changed" if state == "cancelled" else "is cancelled"
            else:
                said = f"is cancelled{f' already; {RENEWED}' if state == 'cancelled' else ''}"
    click.echo(f"the tournament in {folder} {said}")


def _finished(place: Folder, store: Store) -> bool:
    """Do what is left to do, unless a tool does; whether it was done."""
    try:
        return finish_cancelled(place, store)
    except Failure as failure:
        raise Failure(failure.code, f"the tournament is cancelled, but {failure.message}") from None
