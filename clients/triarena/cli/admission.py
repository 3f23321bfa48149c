"""Getting into a server to look around, also when it is full: then only administrators are let in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .invocation import is_loopback
from .options import Failure, authenticate, connected, find_secret, find_secret_and_source, is_typed

if TYPE_CHECKING:
    from triarena.clients.connection import Connection

FULL: Final = frozenset(["address_full", "server_full"])
"""Codes of a server that has room for administrators only."""


@contextmanager
def admitted(host: str, port: int, secret: str | None, secret_file: Path | None) -> Iterator[tuple[Connection, str]]:
    """A connection, and the secret that opened the door of a full server, or nothing.

    A secret that the command line gives is always shown. One that only lies at hand (in the environment, or in the
    folder of a server here) is no foreign server's business: it is shown to one that lets nobody else in. What is wrong
    with it is told then as if there were none. Errors are explained.
    """
    if secret_file is not None or (secret and is_typed("secret")):
        key, source = find_secret_and_source(secret, secret_file)
        with connected(host, port) as connection:
            authenticate(connection, key, source, f"{host}:{port}")
            yield connection, key
        return
    with connected(host, port) as connection:
        spare = _at_hand(host, secret)
        yield connection, spare if spare and _needed(connection, spare) else ""


def _at_hand(host: str, secret: str | None) -> str:
    """The secret that nobody has typed; empty if there is none for that host."""
    if not (secret or is_loopback(host)):
        return ""
    try:
        return find_secret(secret, None)
    except Failure:
        return ""


def _needed(connection: Connection, secret: str) -> bool:
    """Whether the server is full and lets us in with the secret. Raises Farewell if it lets nobody in."""
    from triarena.clients.admin import Administrator, list_rooms
    from triarena.clients.errors import Farewell, ServerError

    try:
        list_rooms(connection)
        return False
    except Farewell as full:
        if full.code not in FULL:
            raise
        connection.reopen()
        try:
            Administrator.authenticate(connection, secret)
        except ServerError:
            raise full from None
        return True
