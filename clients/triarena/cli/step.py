"""``triarena step``: let a paused match play one ply, or one after another at a pace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import administrator, secret_options, server_options
from .pacing import paced

if TYPE_CHECKING:
    from triarena.clients.admin import Administrator


@click.command()
@click.argument("room")
@click.option(
    "--every",
    type=click.FloatRange(0.01, 3600),
    metavar="SECONDS",
    help="Go on: one ply in so many seconds, until the match is over or Ctrl-C leaves it paused.",
)
@server_options
@secret_options
def step(room: str, every: float | None, host: str, port: int, secret: str | None, secret_file: Path | None) -> None:
    """Let the paused match in ROOM play one ply, then pause again.

    \b
    $ triarena step xnrxw
    $ triarena step xnrxw --every 1
    """
    with administrator(host, port, secret, secret_file) as admin:
        if every is None:
            click.echo(admin.step(room))
        else:
            _step_on(admin, room, every)


def _step_on(admin: Administrator, room: str, every: float) -> None:
    """Step whenever a ply has been played and its time is over; tell each ply, and the result."""
    from triarena.clients.backoff import Backoff
    from triarena.clients.results import sentence
    from triarena.clients.spectator import watch

    granted = -1
    scenes = watch(admin.connection, room, backoff=Backoff(patience=0))  # a new connection would be no administrator's
    for scene in paced(scenes, admin.connection, 1 / every):
        if scene.result is not None:
            click.echo(sentence(scene.result))
            return
        if scene.text:
            click.echo(f"ply {scene.info.ply - 1}: {scene.text}")
        over = scene.position is not None and scene.position.outcome is not None
        if not over and scene.info.ply > granted:
            _grant(admin, room, every)
            granted = scene.info.ply


def _grant(admin: Administrator, room: str, every: float) -> None:
    """One ply more. A room that still waits for its players is waited for."""
    from triarena.clients.errors import ServerError

    told = False
    while True:
        try:
            admin.step(room)
        except ServerError as error:
            if error.code == "match_over":  # of which the next scene tells
                return
            if error.code != "not_started":
                raise
        else:
            return
        if not told:
            click.echo(f"waiting for the players of room {room} ...")
            told = True
        admin.connection.listen(every)
