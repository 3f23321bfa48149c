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
    """Close the CONNECTION of that number; the server's log tells the numbers. A match under way is lost by it.

    \b
    $ triarena kick 17
    """
    with administrator(host, port, secret, secret_file) as admin:
        click.echo(admin.kick(connection))
