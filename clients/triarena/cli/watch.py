"""``triarena watch``: follow a match in the terminal."""

from __future__ import annotations

import math
from pathlib import Path

import click

from .admission import admitted
from .options import on_terminal, patience_option, secret_options, server_options
from .pacing import USUAL, paced, read_speed


@click.command(
    epilog="Watching never slows a match: what is played faster than it is shown is kept back, and of very much "
    "the latest is shown."
)
@click.argument("room")
@server_options
@click.option(
    "--speed",
    callback=read_speed,
    metavar="PLIES",
    help=f"Show at most so many plies a second; max: as they come.  [default: {USUAL:g} on a terminal, else max]",
)
@click.option("--plain", is_flag=True, help="No colours, one drawing below the other, as into a pipe.")
@patience_option
@secret_options
def watch(
    room: str,
    host: str,
    port: int,
    speed: float | None,
    plain: bool,
    rejoin_patience: float,
    secret: str | None,
    secret_file: Path | None,
) -> None:
    """Follow the match in ROOM, ply by ply, until it is over. (Rooms: triarena rooms)

    \b
    $ triarena watch xnrxw
    $ triarena watch xnrxw --speed 2
    $ triarena watch xnrxw --host 192.168.1.20 --plain | less
    """
    from triarena.clients.backoff import Backoff
    from triarena.clients.spectator import watch as scenes_of

    from .scenes import show_live, show_plain

    live = on_terminal() and not plain
    with admitted(host, port, secret, secret_file) as (connection, key):
        scenes = scenes_of(connection, room, secret=key, backoff=Backoff(patience=rejoin_patience))
        shown = paced(scenes, connection, speed or (USUAL if live else math.inf))
        if live:
            show_live(shown, lambda: len(connection.waiting))
        else:
            show_plain(shown)
