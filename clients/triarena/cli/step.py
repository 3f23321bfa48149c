"""``triarena step``: let a paused match play one ply."""

from __future__ import annotations

from pathlib import Path

import click

from .options import administrator, secret_options, server_options


@click.command()
@click.argument("room")
@server_options
@secret_options
def step(room: str, host: str, port: int, secret: str | None, secret_file: Path | None) -> None:
    """Let the paused match in ROOM play one ply, then pause again.

    \b
    $ triarena step r1
    """
    with administrator(host, port, secret, secret_file) as admin:
        click.echo(admin.step(room))
