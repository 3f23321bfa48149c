"""``triarena rooms``: what is going on at a server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from .invocation import program
from .options import connected, server_options
from .table import table

if TYPE_CHECKING:
    from triarena.protocol.from_server import RoomInfo, Seat

HEADINGS = ("room", "game", "state", "red", "blue", "ply", "to move", "red time", "blue time", "watching")


@click.command()
@server_options
@click.option("--json", "as_json", is_flag=True, help="One line of JSON per room.")
def rooms(host: str, port: int, as_json: bool) -> None:
    """List the rooms of a server: who plays what, whose turn it is, and the time used.

    \b
    $ triarena rooms
    $ triarena rooms --json | jq .state
    """
    from triarena.clients.admin import list_rooms

    with connected(host, port) as connection:
        found = list_rooms(connection)
    if as_json:
        for info in found:
            click.echo(json.dumps(info.model_dump(exclude_none=True)))
    elif found:
        click.echo(table(HEADINGS, [_row(info) for info in found]))
    else:
        click.echo(f"no rooms; open one with: {program()} join --game GAME, or {program()} prepare GAME")


def _row(info: RoomInfo) -> tuple[str, ...]:
    state = f"{info.state} (paused)" if info.paused and info.state != "paused" else info.state
    if info.storage_lost:
        state = "waits for the database"
    options = ",".join(f"{name}={value}" for name, value in info.options.items())
    return (
        info.room,
        f"{info.game} {options}".rstrip(),
        state,
        _player(info, info.red),
        _player(info, info.blue),
        str(info.ply),
        info.to_move or "",
        f"{info.red.used_ms / 1000:.1f} s",
        f"{info.blue.used_ms / 1000:.1f} s",
        str(info.observers),
    )


def _player(info: RoomInfo, seat: Seat) -> str:
    if seat.connected or info.state == "over":
        number = f" #{seat.connection}" if seat.connection is not None else ""
        return (seat.name or "") + number
    if info.state == "waiting":
        return f"{seat.name or ''} ({'reserved' if seat.reserved else 'open'})".lstrip()
    return f"{seat.name} (away)"
