"""The options by which a tournament finds its server: one of its own, or a running one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from triarena.cli.options import DEFAULT_PORT

EXIT_CODES: Final = (
    "Exit code 0: it is over; 1: it could not begin, was cancelled, games could not be played, or the page not be "
    "written; 2: wrong use, or a faulty file; 130: interrupted."
)
"""Of the commands that play."""
FILE_OPTION: Final = "FILE"
"""Under which the tournament's file is kept beside the options, to be looked at when it is resumed."""
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Choice:
    """At which server a tournament is played."""

    host: str | None = None
    """On which address the tournament's own one listens; None: as the file says."""
    port: int | None = None
    running: tuple[str, int] | None = None
    """Host and port of a running one."""
    secret: str | None = None
    secret_file: Path | None = None
    database: str | None = None
    """Of the running one, for reports; None: unknown."""
    public_host: str | None = None
    """Under which other machines find the server; None: as it looks from here."""

    def check(self) -> None:
        """Raises a usage error for what is for a running server, if there is none."""
        if self.running is None and (self.secret_file is not None or self.database is not None):
            raise click.UsageError("--secret-file and --database are for a running server; name it with --server")

    @property
    def kept(self) -> dict[str, str]:
        """What is kept of it for the next time, by option: all but the secret."""
        words = replace(self, secret_file=None if self.secret_file is None else self.secret_file.absolute()).words
        return dict(zip(words[::2], words[1::2], strict=True))

    def over(self, kept: Mapping[str, str]) -> Choice:
        """This choice, and where it says nothing, what was kept of the last one; another server is another one."""
        running = _address(kept.get("--server"))
        if self.host is not None or self.port is not None or self.running not in (None, running):
            there: Mapping[str, str] = {}
        else:
            there = kept
        own = {} if self.running is not None else kept
        return Choice(
            host=self.host or own.get("--host"),
            port=self.port if self.port is not None else int(own["--port"]) if "--port" in own else None,
            running=self.running or _address(there.get("--server")),
            secret=self.secret,
            secret_file=self.secret_file or (Path(there["--secret-file"]) if "--secret-file" in there else None),
            database=self.database or there.get("--database"),
            public_host=self.public_host or kept.get("--public-host"),
        )

    @property
    def words(self) -> list[str]:
        """The options that lead to the same server again, but for the secret, which is not to be shown."""
        given = [("--host", self.host), ("--port", self.port), ("--secret-file", self.secret_file)]
        given += [("--database", self.database), ("--public-host", self.public_host)]
        if self.running is not None:
            host, port = self.running
            given.insert(0, ("--server", f"[{host}]:{port}" if ":" in host else f"{host}:{port}"))
        return [word for name, value in given if value is not None for word in (name, str(value))]


def server_choice(command: F) -> F:
    """The options, which the command gets as one value ``where``."""

    @wraps(command)
    def chosen(
        *arguments: Any,
        host: str | None,
        port: int | None,
        server: str | None,
        secret: str | None,
        secret_file: Path | None,
        database: str | None,
        public_host: str | None,
        **others: Any,
    ) -> Any:
        running = _address(server)
        if running is not None and (host is not None or port is not None):
            raise click.UsageError(
                "--host and --port are for a server of the tournament's own; leave them or --server out"
            )
        choice = Choice(host, port, running, secret, secret_file, database, public_host)
        return command(*arguments, where=choice, **others)

    options = [
        click.option("--host", help="Where the tournament's server listens; 0.0.0.0 opens it to remote bots."),
        click.option(
            "--port",
            type=click.IntRange(0, 65535),
            help=f"Its port.  [default: any free one; {DEFAULT_PORT} if there are remote bots]",
        ),
        click.option("--public-host", help="Under which other machines find it, for the printed commands."),
        click.option("--server", metavar="HOST:PORT", help="Play at this running server, not at one of our own."),
        click.option("--secret", envvar="TRIARENA_SECRET", show_envvar=True, help="Its administrator secret."),
        click.option(
            "--secret-file", type=click.Path(path_type=Path, dir_okay=False), help="A file that holds the secret."
        ),
        click.option("--database", help="Its database URL, for reports about irregular matches."),
    ]
    result: Any = chosen
    for option in reversed(options):
        result = option(result)
    found: F = result
    return found


def _address(text: str | None) -> tuple[str, int] | None:
    """``HOST:PORT`` as two values. Raises a usage error for what is neither."""
    if text is None:
        return None
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise click.UsageError(f"--server takes HOST:PORT, as in 192.168.1.20:13055; {text!r:.60} is none")
    return host.strip("[]"), int(port)
