"""``triarena pause``: stop a match at the next ply."""

from __future__ import annotations

from pathlib import Path

import click

from .options import administrator, secret_options, server_options


@click.command()
@click.argument("room")
@server_options
@secret_options
def pause(room: str, host: str, port: int, secret: str | None, secret_file: Path | None) -> None:
    """Pause the match in ROOM: the move under way is finished, then nobody is asked and no clock runs.

    \b
    $ triarena pause xnrxw
    """
    with administrator(host, port, secret, secret_file) as admin:
        click.echo(admin.pause(room))
