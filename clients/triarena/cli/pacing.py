"""How fast a match is shown: a match of fast bots is over before an eye has seen it, so what comes is kept back."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from triarena.clients.connection import Connection
    from triarena.clients.spectator import Scene

USUAL: Final = 5.0
"""Plies per second on a terminal."""
BACKLOG: Final = 2000
"""So many messages are kept back; then no more are read, and the server goes on from a later ply."""


def read_speed(ctx: click.Context, parameter: click.Parameter, given: str | None) -> float | None:
    """Plies per second, or ``max`` for as fast as they come, which is infinity; a usage error for anything else."""
    if given is None or given == "max":
        return None if given is None else math.inf
    try:
        speed = float(given)
    except ValueError:
        speed = 0.0
    if not 0.1 <= speed <= 1000:
        raise click.BadParameter(f"{given!r} is neither a number of plies per second, from 0.1 to 1000, nor max")
    return speed


def paced(
    scenes: Iterable[Scene],
    connection: Connection,
    speed: float,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Scene]:
    """The scenes, at most ``speed`` of them per second; the match is not slowed by it.

    Of a match that was broken off, the end is shown at once, in place of what was kept back.
    """
    from triarena.clients.errors import ConnectionLost

    for scene in scenes:
        if scene.result is None and _is_broken_off(connection):
            continue
        yield scene
        until, listening = now() + 1 / speed, True
        while scene.result is None and (left := until - now()) > 0 and not _is_broken_off(connection):
            if listening and len(connection.waiting) < BACKLOG:
                try:
                    connection.listen(left)
                except ConnectionLost:  # the spectator hears of it when it comes to that
                    listening = False
            else:
                sleep(left)


def _is_broken_off(connection: Connection) -> bool:
    """Whether it is known already that the match has ended without having been played to an end."""
    from triarena.protocol.from_server import MatchOver

    ends = (message.result for message in connection.waiting if isinstance(message, MatchOver))
    return any(end.kind == "aborted" and end.reason != "ply_limit" for end in ends)
