"""Before a tournament is begun: can it be played where it is to be played? What can't be is told at once."""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Final

import click

from triarena.cli.invocation import command
from triarena.cli.options import DEFAULT_PORT, Failure, connected, find_secret_and_source, wrong_secret
from triarena.organiser.records import StoredPlayer
from triarena.organiser.spec import TournamentFile

from .owners import host_of, remote_names
from .server_choice import Choice

RELEASE_SECONDS: Final = 3.0
"""For the server of a tool that was killed to let go of its port."""
PAUSE_SECONDS: Final = 0.1


def make_sure(where: Choice, file: TournamentFile, players: Sequence[StoredPlayer], *, resumed: bool = False) -> None:
    """Make sure that the running server lets us in and our players have their names there, or that the port of a server
    of our own is free. Raises Failure.
    """
    if where.running is not None:
        _knock(where, {player.name: player.token for player in players if player.token is not None})
        return
    port = port_of(where, file)
    if port:
        _bind(where.host or host_of(file), port, RELEASE_SECONDS if resumed else 0.0)


def port_of(where: Choice, file: TournamentFile) -> int:
    """The port of the tournament's own server; 0 is any free one."""
    if where.port is not None:
        return where.port
    # Whoever plays from elsewhere needs a port that is the same tomorrow.
    return int(str(file.server.get("server", {}).get("port", DEFAULT_PORT if remote_names(file) else 0)))


def _knock(where: Choice, tokens: Mapping[str, str]) -> None:
    import trio

    from triarena.organiser.desk import DeskLost, DeskRefused
    from triarena.organiser.knock import PATIENCE_SECONDS, knock
    from triarena.organiser.link import Access, enrolments

    assert where.running is not None
    host, port = where.running
    try:
        secret, source = find_secret_and_source(where.secret, where.secret_file)
    except Failure as failure:
        if failure.code == "no_secret":
            with connected(host, port):  # where there is no server, no secret would help
                raise
        raise
    try:
        trio.run(knock, Access(host, port, secret), enrolments(tokens))
    except DeskLost as error:
        raise Failure(
            error.code,
            f"{error.message} (tried for {PATIENCE_SECONDS:g} s): start it there with '{command('serve')}', correct "
            "the address, or leave --server out to play at a server of the tournament's own",
        ) from None
    except DeskRefused as error:
        if error.code == "name_taken":
            raise Failure(error.code, f"nothing was begun at {host}:{port}: {error.message}") from None
        if error.code != "wrong_secret":
            raise Failure(error.code, f"the server at {host}:{port} does not let us in: {error.message}") from None
        raise wrong_secret(source, f"{host}:{port}") from None


def _bind(host: str, port: int, patience: float) -> None:
    """Take a port for a moment."""
    deadline = time.monotonic() + patience
    while True:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            with closing(socket.socket(family, kind, protocol)) as door:
                if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
                    door.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
                else:
                    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                door.bind(address)
                door.listen(1)
            return
        except OSError as error:
            if error.errno == errno.EADDRINUSE and time.monotonic() < deadline:
                time.sleep(PAUSE_SECONDS)
                continue
            raise _refused(host, port, error) from None


def _refused(host: str, port: int, error: OSError) -> click.ClickException:
    if error.errno == errno.EADDRINUSE:
        return Failure(
            "port_taken",
            f"port {port} at {host} is taken by another program, perhaps another server: end that, or choose another "
            "port with --port",
        )
    if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
        return Failure("no_such_address", f"this computer has no address {host}: 0.0.0.0 means all that it has")
    reason = error.strerror or str(error)
    return Failure("cannot_listen", f"a server can't listen at {host}, port {port}: {reason}; choose another --port")
