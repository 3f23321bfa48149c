"""``triarena cancel``: break off a match."""

from __future__ import annotations

from pathlib import Path

import click

from .options import administrator, secret_options, server_options


@click.command()
@click.argument("room")
@click.option("--reason", default="", help="A sentence for the players.")
@server_options
@secret_options
def cancel(room: str, reason: str, host: str, port: int, secret: str | None, secret_file: Path | None) -> None:
    """Break off the match in ROOM: nobody wins or loses. A room whose match has not started is closed.

    \b
    $ triarena cancel xnrxw --reason "the network failed, we play again at noon"
    """
    with administrator(host, port, secret, secret_file) as admin:
        click.echo(admin.cancel(room, reason))
