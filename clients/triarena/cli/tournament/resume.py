"""``triarena tournament resume``: go on where a tournament was interrupted."""

from __future__ import annotations

from pathlib import Path

import click

from triarena.cli.options import Failure

from .opening import existing, free_processors, interruptible, told
from .paths import FOLDER
from .server_choice import EXIT_CODES, Choice, server_choice


@click.command(epilog=EXIT_CODES)
@FOLDER
@server_choice
def resume(
    folder: Path,
    where: Choice,
) -> None:
    """Go on with the tournament in FOLDER, whether it was interrupted, killed, or some games could not be played.

    What has a result is not played again; games that were running are. The options are those with which it was run the
    last time, but for the secret, unless they are given.

    \b
    $ triarena tournament resume class.tournament
    $ triarena tournament resume class.tournament --host 0.0.0.0
    """
    with interruptible(lambda: existing(folder)), told():
        from triarena.organiser.claim import is_claimed
        from triarena.organiser.store import Store

        from .reaching import make_sure
        from .running import run_shown

        place = existing(folder)
        contents = place.contents()
        if contents.state in ("finished", "cancelled"):
            raise Failure("is_over", f"the tournament in {folder} is {contents.state}: there is nothing to go on with")
        described = place.file(contents, free_processors())
        with Store(place.path) as store:
            where = where.over(store.options())
            where.check()
            if not is_claimed(place.path):  # who runs it has the port, too
                make_sure(where, described, store.players(), resumed=True)
                store.keep_options(where.kept)
            run_shown(place, store, described, where)
