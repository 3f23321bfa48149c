"""``triarena watch``: follow a match in the terminal."""

from __future__ import annotations

import click

from .options import connected, on_terminal, patience_option, server_options


@click.command(epilog="Watching never slows a match: who is too slow to draw every ply is shown the latest.")
@click.argument("room")
@server_options
@click.option("--plain", is_flag=True, help="No colours, one drawing below the other, as into a pipe.")
@patience_option
def watch(room: str, host: str, port: int, plain: bool, rejoin_patience: float) -> None:
    """Follow the match in ROOM, ply by ply, until it is over. (Rooms: triarena rooms)

    \b
    $ triarena watch r1
    $ triarena watch r1 --host 192.168.1.20 --plain | less
    """
    from triarena.clients.backoff import Backoff
    from triarena.clients.spectator import watch as scenes_of

    from .scenes import show_live, show_plain

    show = show_plain if plain or not on_terminal() else show_live
    with connected(host, port) as connection:
        show(scenes_of(connection, room, backoff=Backoff(patience=rejoin_patience)))
