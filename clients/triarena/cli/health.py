"""``triarena health``: does a server answer?"""

from __future__ import annotations

import json
import time

import click

from .options import connected, server_options


@click.command(epilog="Exit code 0: it greets; 1: it does not, and a sentence says why.")
@server_options
@click.option("--json", "as_json", is_flag=True, help="One line of JSON.")
def health(host: str, port: int, as_json: bool) -> None:
    """Connect to a server, greet, and say in one line whether it answers.

    \b
    $ triarena health --host 127.0.0.1 --port 13055
    """
    import triarena.clients.connection  # noqa: F401  # loading it is not the server's time

    began = time.monotonic()
    with connected(host, port) as connection:
        milliseconds = round(1000 * (time.monotonic() - began), 1)
        welcome, address = connection.welcome, connection.address
    names = [game.name for game in welcome.games]
    if as_json:
        facts = {"address": address, "software": welcome.software, "protocol": welcome.protocol, "games": names}
        click.echo(json.dumps({**facts, "greeting_ms": milliseconds}))
    else:
        click.echo(f"{address} is up: {welcome.software}, protocol {welcome.protocol}, {', '.join(names)}")
