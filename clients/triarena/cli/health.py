"""``triarena health``: does a server answer?"""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from .admission import admitted
from .options import STORAGE_LOST, Failure, secret_options, server_options


@click.command(
    epilog="Exit code 0: all is well; 1: it does not greet or has lost its database, and a sentence says so."
)
@server_options
@secret_options
@click.option("--json", "as_json", is_flag=True, help="One line of JSON.")
def health(host: str, port: int, secret: str | None, secret_file: Path | None, as_json: bool) -> None:
    """Connect to a server, greet, and say in one line whether it answers and can store matches.

    \b
    $ triarena health --host 127.0.0.1 --port 13055
    """
    import triarena.clients.connection  # noqa: F401  # loading it is not the server's time

    began = time.monotonic()
    with admitted(host, port, secret, secret_file) as (connection, _):
        milliseconds = round(1000 * (time.monotonic() - began), 1)
        welcome, address = connection.welcome, connection.address
    lost = welcome.storage_lost
    names = [game.name for game in welcome.games]
    if as_json:
        facts = {"address": address, "software": welcome.software, "protocol": welcome.protocol, "games": names}
        click.echo(json.dumps({**facts, "greeting_ms": milliseconds, "storage_lost": lost}))
    elif not lost:
        click.echo(f"{address} is up: {welcome.software}, protocol {welcome.protocol}, {', '.join(names)}")
    if lost:
        raise Failure("storage_lost", f"{address} answers, but {STORAGE_LOST}")
