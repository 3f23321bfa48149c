"""``triarena tournament resume``: go on where a tournament was interrupted."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from triarena.cli.options import Failure

from .opening import existing, free_processors, interruptible, told
from .paths import FOLDER
from .server_choice import EXIT_CODES, FILE_OPTION, Choice, server_choice

if TYPE_CHECKING:
    from triarena.organiser.folder import Folder
    from triarena.organiser.records import Contents, TournamentState


@click.command(epilog=EXIT_CODES)
@FOLDER
@server_choice
def resume(
    folder: Path,
    where: Choice,
) -> None:
    """Go on with the tournament in FOLDER, whether it was interrupted, killed, or some games could not be played.

    What has a result is not played again; games that were running are. Of one that is over the page and the tables are
    written anew. The options are those with which it was run the
    last time, but for the secret, unless they are given.

    \b
    $ triarena tournament resume class.tournament
    $ triarena tournament resume class.tournament --host 0.0.0.0
    """
    with interruptible(lambda: existing(folder)), told():
        from triarena.organiser.claim import is_claimed
        from triarena.organiser.records import OVER
        from triarena.organiser.store import Store

        from .reaching import make_sure
        from .running import run_shown

        place = existing(folder)
        contents = place.contents()
        if contents.state in OVER:
            said = _renewed(place, contents.state)
            said = f"the tournament in {folder} is {contents.state}: there is nothing to go on with{said}"
            if contents.state != "finished":
                raise Failure("is_over", said)
            click.echo(said)
            return
        described = place.file(contents, free_processors())
        with Store(place.path) as store:
            kept = store.options()
            where = where.over(kept)
            where.check()
            if not is_claimed(place.path):  # who runs it has the port, too
                make_sure(where, described, store.players(), resumed=True)
                store.keep_options(where.kept | {name: kept[name] for name in (FILE_OPTION,) if name in kept})
            if note := changed(place, contents, kept.get(FILE_OPTION)):
                click.echo(note)
            run_shown(place, store, described, where)


def _renewed(place: Folder, state: TournamentState) -> str:
    """Write the exports of a tournament that is over: who was killed after its last game has not; what was done."""
    from triarena.organiser.store import Store

    from .renewing import RENEWED, finish_cancelled, renew

    if state == "finished":
        renew(place)
        return f"; {RENEWED}"
    with Store(place.path) as store:
        return f"; {RENEWED}" if finish_cancelled(place, store) else ""


def changed(place: Folder, contents: Contents, path: str | None) -> str:
    """That the tournament's file was changed since the start, if it can be found and was; else nothing."""
    file = Path(path) if path is not None else contents.file_folder / f"{place.path.stem}.toml"
    with suppress(OSError, UnicodeError):
        if file.read_text(encoding="utf-8-sig") != contents.file_text:
            return (
                f"{file.name} was changed since this tournament was begun: it goes on as it was begun; to play by the "
                "file as it is now, run it with another --folder"
            )
    return ""
