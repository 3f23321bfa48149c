"""``triarena tournament run``: begin a tournament."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .opening import folder_for, interruptible, read_file, told
from .paths import FILE
from .server_choice import EXIT_CODES, FILE_OPTION, Choice, server_choice

if TYPE_CHECKING:
    from triarena.organiser.folder import Folder


@click.command(epilog=EXIT_CODES)
@FILE
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where everything is kept.  [default: FILE's name with the ending .tournament, here]",
)
@click.option("--dry-run", is_flag=True, help="Print schedule, number of games and expected duration; play nothing.")
@server_choice
def run(
    file: Path,
    folder: Path | None,
    dry_run: bool,
    where: Choice,
) -> None:
    """Run the tournament that FILE describes, to its end.

    It starts a server of its own and all local bots, and prints for each remote bot the command with which its owner
    joins. Ctrl-C lets running games end; nothing that was played is ever lost, and the command that goes on is printed.

    \b
    $ triarena tournament run class.toml
    $ triarena tournament run class.toml --host 0.0.0.0
    $ triarena tournament run class.toml --server 192.168.1.20:13055 --secret-file secret.txt
    $ triarena tournament run class.toml --dry-run
    """
    where.check()
    if dry_run:
        from triarena.organiser.dry_run import dry_run as text

        from .owners import host_of, out_of_reach

        drawn: list[str] = []

        def draw(slug: str) -> int:
            drawn.append(slug)
            return 0

        described = read_file(file, draw)
        click.echo(text(described, drawn))
        if where.running is None and (warning := out_of_reach(described, where.host or host_of(described))):
            click.echo(f"\n{warning}")
        return
    places: list[Folder] = []
    with interruptible(lambda: places[0] if places else None):
        from triarena.organiser.folder import with_tokens

        from .reaching import make_sure
        from .running import relative, run_shown

        described = read_file(file)
        place = folder_for(file, folder)
        players = with_tokens(described)
        make_sure(where, described, players)
        places.append(place)
        with told(), place.make(file, described, datetime.now(UTC), players) as store:
            store.keep_options({**where.kept, FILE_OPTION: str(file.absolute())})
            click.echo(f"everything is kept in {relative(place.path)}")
            run_shown(place, store, described, where)
