"""``triarena serve``: run the server until it is told to stop."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import structlog
import trio

from triarena.server.app import Addresses, CannotListen, Plan, watch_signals
from triarena.server.app import serve as serve_plan
from triarena.server.journal import JournalError
from triarena.server.logs import configure_logging
from triarena.server.planning import plan
from triarena.server.secret import AdminSecret, SecretError, Vault
from triarena.server.settings_sources import SettingsError, client_variables, load_settings, unknown_variables
from triarena.server.settings_text import describe

from .first_steps import first_steps
from .invocation import hosts_for_others, is_any
from .options import DEFAULT_HOST, Failure, lower

if TYPE_CHECKING:
    import ssl

    from triarena.server.settings import Settings

log = structlog.get_logger()

BAD_SETTINGS = 2
KEYS = {
    "host": "server.host",
    "port": "server.port",
    "port_file": "server.port_file",
    "data_dir": "server.data_dir",
    "database": "server.database",
    "log_format": "server.log_format",
    "log_level": "server.log_level",
    "move_time": "clock.move_seconds",
    "startup_time": "clock.startup_seconds",
    "socha": "socha.enabled",
    "socha_port": "socha.port",
}
"""Which setting each option sets."""


class BadSettings(Failure):
    """Settings that can't be used: wrong use, not a failure of the server."""

    exit_code = BAD_SETTINGS


@click.command()
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar="TRIARENA_CONFIG",
    show_envvar=True,
    help="A TOML file with settings; see --print-config.",
)
@click.option("--host", help="Address to listen on; 0.0.0.0 opens the server to the network.  [default: 127.0.0.1]")
@click.option("--port", type=int, help="TCP port; 0 takes any free one.  [default: 13055]")
@click.option("--port-file", type=click.Path(path_type=Path, dir_okay=False), help="File that receives the port.")
@click.option("--data-dir", type=click.Path(path_type=Path, file_okay=False), help="Folder for journal and secret.")
@click.option("--database", help="Database URL; SQLite in the data folder if left out.")
@click.option("--move-time", type=float, help="Seconds for one move.  [default: 2]")
@click.option("--startup-time", type=float, help="Seconds to get ready before the first move.  [default: 30]")
@click.option("--socha", is_flag=True, default=None, help="Also let clients of the Software-Challenge 2024 play.")
@click.option("--socha-port", type=int, help="TCP port for them, and they may play.  [default: 13050]")
@click.option("--log-format", help="console or json.  [default: by whether the log goes to a terminal]")
@click.option("--log-level", help="debug, info, warning or error.  [default: info]")
@click.option("--print-config", is_flag=True, help="Print all settings with their explanations, and exit.")
def serve(config: Path | None, print_config: bool, **flags: Any) -> None:
    """Run the server: matches of all games, until Ctrl-C.

    The first Ctrl-C lets running matches finish for a while, the second stops at once. Settings come from their
    defaults, the file of --config, the environment (TRIARENA_CLOCK__MOVE_SECONDS=5) and these options, in that
    order.

    \b
    $ triarena serve
    $ triarena serve --host 0.0.0.0 --move-time 5
    """
    settings = _settings(config, flags)
    if print_config:
        click.echo(describe(settings), nl=False)
        return
    configure_logging(settings.server.log_level, settings.server.log_format)
    for sentence in unknown_variables(os.environ, KEYS):
        log.warning("unknown_variable", why=sentence)
    for sentence in client_variables(os.environ, settings):
        log.warning("variable_of_clients", why=sentence)
    try:
        if settings.server.port_file is not None:
            _try_port_file(settings.server.port_file)
        vault = Vault(settings.server.data_dir)
        trio.run(_main, settings, vault, _plan(settings, vault))
    except (SecretError, JournalError) as error:
        raise Failure(error.code, lower(error.message)) from None
    except CannotListen as error:
        raise Failure("cannot_listen", str(error)) from None


def _settings(config: Path | None, flags: dict[str, Any]) -> Settings:
    if flags["socha_port"] is not None:
        flags["socha"] = True
    chosen = {KEYS[name]: value for name, value in flags.items()}
    if flags["move_time"] is not None:  # in place of a budget that a file may have set
        chosen |= {"clock.budget_seconds": 0.0, "clock.increment_seconds": 0.0}
    try:
        return load_settings(config, os.environ, chosen)
    except SettingsError as error:
        raise BadSettings(error.code, error.message) from None


def _plan(settings: Settings, vault: Vault) -> Plan:
    try:
        return plan(settings, vault, f"triarena {version('triarena')}")
    except SettingsError as error:  # in a file that the settings name
        raise BadSettings(error.code, error.message) from None


async def _main(settings: Settings, vault: Vault, the_plan: Plan) -> None:
    """Serve until a signal comes; an expected error is raised only here, outside of every nursery."""
    stop = trio.Event()
    failures: list[Exception] = []
    written: list[int] = []

    gateway: list[tuple[str, int]] = []

    def ready(addresses: Addresses) -> None:
        try:
            secret = vault.keep()
            if settings.server.port_file is not None:
                _write_port(settings.server.port_file, addresses[0][1])
                written.append(addresses[0][1])
        except (SecretError, Failure) as failure:
            failures.append(failure)
            stop.set()
        else:
            _announce(settings, secret, the_plan.house.software, addresses, gateway, the_plan.door.tls)

    everything = trio.CancelScope()
    async with trio.open_nursery() as nursery:
        await nursery.start(watch_signals, stop, everything)
        try:
            await serve_plan(the_plan, stop, ready, gateway.extend, everything)
        except (CannotListen, JournalError) as error:
            failures.append(error)
        finally:
            if settings.server.port_file is not None and written:
                _forget_port(settings.server.port_file, written[0])
        nursery.cancel_scope.cancel()  # last of all: until here signals are ours
    if failures:
        raise failures[0]


def _announce(
    settings: Settings,
    secret: AdminSecret,
    software: str,
    addresses: Addresses,
    gateway: Addresses,
    tls: ssl.SSLContext | None = None,
) -> None:
    """Say where the server is, what it plays, and where it keeps its data; on a terminal a new secret is shown."""
    from triarena.games import games

    lines = [f"{software} listens on {_listed(addresses)}"]
    lines.append("games:  " + ", ".join(games()))
    lines.append(f"data:   {settings.server.data_dir}")
    if secret.is_new and sys.stdout.isatty():  # a log is kept, and read by others
        lines.append(f"secret: {secret.value}")
        lines.append(f"        for administrators; shown this once, and kept in {secret.path}")
    else:
        lines.append(f"secret: in {secret.path}")
    if secret.warning is not None:
        lines.append(f"warning: {secret.warning}")
    lines += first_steps(settings, addresses, tls)
    if gateway:
        lines.append(f"Software-Challenge: {_listed(gateway)}")
        old_bot = f"java -jar my-old-bot.jar --host {_for_this_machine(gateway[0][0])} --port {gateway[0][1]}"
        lines.append(f"an old bot joins with:  {old_bot}")
    if others := hosts_for_others([host for host, _ in addresses]):
        lines.append(f"from elsewhere:    the same with --host {' or --host '.join(others)}")
    click.echo("\n".join(lines))
    sys.stdout.flush()


def _listed(addresses: Addresses) -> str:
    return ", ".join(f"{host}:{port}" for host, port in addresses)


def _for_this_machine(host: str) -> str:
    """Under which address a program on this machine finds what listens on ``host``."""
    return DEFAULT_HOST if is_any(host) else host


def _try_port_file(file: Path) -> None:
    """Whether the port file can be written, before anything else is done. Raises Failure."""
    draft = file.with_name(file.name + ".new")
    try:
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        draft.touch()
        draft.unlink()
    except OSError as error:
        raise _unwritable(file, error) from None


def _unwritable(file: Path, error: OSError) -> Failure:
    return Failure("port_file", f"the port file {file} cannot be written: {error.strerror or error}")


def _write_port(file: Path, port: int) -> None:
    """All at once, so that whoever waits for the file never reads half a number."""
    draft = file.with_name(file.name + ".new")
    try:
        draft.write_text(f"{port}\n", encoding="ascii")
        draft.replace(file)
    except OSError as error:
        raise _unwritable(file, error) from None


def _forget_port(file: Path, port: int) -> None:
    """Take the port file away, unless another server has written its own meanwhile."""
    with suppress(OSError):
        if file.read_text(encoding="ascii").strip() == str(port):
            file.unlink()
