"""``triarena resume``: let a paused match go on."""

from __future__ import annotations

from pathlib import Path

import click

from .options import administrator, secret_options, server_options


@click.command()
@click.argument("room")
@server_options
@secret_options
def resume(room: str, host: str, port: int, secret: str | None, secret_file: Path | None) -> None:
    """Let the paused match in ROOM go on.

    \b
    $ triarena resume xnrxw
    """
    with administrator(host, port, secret, secret_file) as admin:
        click.echo(admin.resume(room))
