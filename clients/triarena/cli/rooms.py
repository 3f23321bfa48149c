"""``triarena rooms``: what is going on at a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .admission import admitted
from .invocation import command, program
from .options import STORAGE_LOST, secret_options, server_options
from .scenes import player, state
from .table import table

if TYPE_CHECKING:
    from triarena.protocol.room_views import RoomInfo, Seat

HEADINGS = ("room", "game", "state", "red", "blue", "ply", "to move", "red time", "blue time", "watching")


@click.command()
@server_options
@secret_options
@click.option("--open", "is_open", is_flag=True, help="Only those with a seat that anybody may take.")
@click.option("--running", is_flag=True, help="Only those in which a match is under way.")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON per room.")
def rooms(
    host: str, port: int, secret: str | None, secret_file: Path | None, is_open: bool, running: bool, as_json: bool
) -> None:
    """List the rooms of a server: who plays what, whose turn it is, and the time used. A server that is full is
    listed for its administrator.

    \b
    $ triarena rooms
    $ triarena rooms --open
    $ triarena rooms --json | jq .state
    """
    from triarena.clients.admin import list_rooms

    with admitted(host, port, secret, secret_file) as (connection, _):
        found, lost = list_rooms(connection), connection.welcome.storage_lost
    if lost:
        click.echo(f"warning: {STORAGE_LOST}", err=True)
    if is_open or running:
        found = [info for info in found if (is_open and _is_open(info)) or (running and _is_running(info))]
    if as_json:
        for info in found:
            click.echo(json.dumps(info.model_dump(exclude_none=True)))
    elif found:
        click.echo(table(HEADINGS, [_row(info) for info in found]))
    elif is_open or running:
        click.echo("no such rooms; see them all with: " + command("rooms"))
    else:
        click.echo(f"no rooms; open one with: {program()} join --game GAME, or {program()} prepare GAME")


def _is_open(info: RoomInfo) -> bool:
    return info.state == "waiting" and any(not (seat.connected or seat.reserved) for seat in (info.red, info.blue))


def _is_running(info: RoomInfo) -> bool:
    return info.state not in ("waiting", "over")


def _row(info: RoomInfo) -> tuple[str, ...]:
    options = ",".join(f"{name}={value}" for name, value in info.options.items())
    return (
        info.room,
        f"{info.game} {options}".rstrip(),
        state(info),
        _numbered(info, info.red),
        _numbered(info, info.blue),
        str(info.ply),
        info.to_move or "",
        f"{info.red.used_ms / 1000:.1f} s",
        f"{info.blue.used_ms / 1000:.1f} s",
        str(info.observers),
    )


def _numbered(info: RoomInfo, seat: Seat) -> str:
    """Who sits there, with the number of the connection for ``triarena kick``."""
    return player(info, seat) + (f" #{seat.connection}" if seat.connected and seat.connection is not None else "")
