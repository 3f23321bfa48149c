"""``triarena kick``: close somebody's connection."""

from __future__ import annotations

from pathlib import Path

import click

from .options import administrator, secret_options, server_options


@click.command()
@click.argument("connection")
@server_options
@secret_options
def kick(connection: str, host: str, port: int, secret: str | None, secret_file: Path | None) -> None:
    """Close the CONNECTION of that number. A player in a match has lost it by that, at once and without a way back.
    To break a match off without a loser, use triarena cancel.

    The numbers stand behind the players' names in the list of triarena rooms: Ann #17 has number 17.

    \b
    $ triarena kick 17
    """
    with administrator(host, port, secret, secret_file) as admin:
        click.echo(admin.kick(connection.removeprefix("#")))
