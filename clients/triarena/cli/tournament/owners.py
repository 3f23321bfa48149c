"""What the owners of remote bots are told: how they join, at an address that they can reach."""

from __future__ import annotations

from collections.abc import Iterator

from triarena.cli.invocation import command, hosts_for_others, is_any, is_loopback, seen_from_outside
from triarena.organiser.folder import Folder
from triarena.organiser.spec import TournamentFile
from triarena.organiser.store import StoreReader

HERE = "127.0.0.1"
PLACEHOLDER = "ADDRESS"
WAIT_SECONDS = 600
"""How long a command that joins waits for the server."""


def host_of(file: TournamentFile) -> str:
    """Where the tournament's own server listens if the command line says nothing."""
    return str(file.server.get("server", {}).get("host", HERE))


def remote_names(file: TournamentFile) -> list[str]:
    """The bots that run elsewhere."""
    return [player.name for player in file.players if not player.local]


def out_of_reach(file: TournamentFile, host: str) -> str | None:
    """A warning if remote bots are expected where only this computer can reach the server."""
    names = remote_names(file)
    return _warning(names, host) if names and is_loopback(host) else None


def _warning(names: list[str], host: str) -> str:
    are = f"{names[0]} is" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} are"
    return (
        f"{are} remote, but only this computer can reach a server that listens at {host}: "
        "for bots on other machines run the tournament with --host 0.0.0.0"
    )


def instructions(
    folder: Folder, file: TournamentFile, host: str, port: int, *, running: bool, public_host: str | None = None
) -> Iterator[str]:
    """For each remote bot the command with which its owner joins, and what to know about the address in it.

    ``host`` is where the tournament's own server listens; or, with ``running``, where a running one was found.
    """
    if not remote_names(file):
        return
    hosts = [public_host] if public_host is not None else _hosts(host, port, running)
    with StoreReader(folder.path) as reader:
        tokens = {player.name: player.token for player in reader.players() if player.token is not None}
    for name in remote_names(file):
        words = ["join", "--tournament", "BOT.py", "--name", name, "--token", tokens[name]]
        words += ["--host", hosts[0], "--port", str(port), "--wait", str(WAIT_SECONDS)]
        yield f"{name} joins with: {command(*words)}"
    if hosts[0] == PLACEHOLDER:
        yield f"put this computer's address in the place of {PLACEHOLDER}: it could not be found out"
    elif len(hosts) > 1:
        yield f"if {hosts[0]} can't be reached from there: this computer has {', '.join(hosts[1:])}, too"
    elif is_loopback(hosts[0]):
        yield _at_a_running_one(hosts[0]) if running else _warning(remote_names(file), hosts[0])


def _hosts(host: str, port: int, running: bool) -> list[str]:
    """Under which addresses owners may reach the server, the likeliest first; this computer's own if there is none."""
    if is_any(host):
        return hosts_for_others([host]) or [PLACEHOLDER]
    if running and is_loopback(host) and (found := seen_from_outside(port)) is not None:
        return [found]
    return [host]


def _at_a_running_one(host: str) -> str:
    return (
        f"only this computer can reach {host}: if the server is to have bots from other machines, it must be started "
        "with --host 0.0.0.0"
    )
