"""What several commands share: their options, connecting, and errors as one sentence with a code."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from .invocation import program

if TYPE_CHECKING:
    import ssl

    from pydantic import ValidationError

    from triarena.clients.admin import Administrator
    from triarena.clients.connection import Connection

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 13055
RETRY_SECONDS: Final = 0.2
FULL_SECONDS: Final = 2.0
"""After how long a full server is asked again."""
UNSAID_SECONDS: Final = 1.0
"""So long a server that is not there is waited for in silence."""
SLOW_SECONDS: Final = 3.0
"""And so long one that is there and does not greet."""
ABSENT: Final = frozenset(["connection_refused", "no_greeting", "unknown_host"])
"""Codes of a server that may be there a little later."""

PORT = click.IntRange(1, 65535)


FORFEITED: Final = 3
"""Exit code: this side lost a match by a fault of its own."""

STORAGE_LOST: Final = (
    "the server's database cannot be written at the moment: matches wait, and go on by themselves when it is back; its "
    "log says why"
)


class Failure(click.ClickException):
    """A command's own failure: a sentence and its stable code in brackets; exit code 1.

    A command that the sentence quotes, as in ``'triarena serve'``, is told as it must be typed here.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message.replace("'triarena ", f"'{program()} ") + f" [{code}]")
        self.code = code


def lower(sentence: str) -> str:
    """A whole sentence of the server's, as those of the commands are: behind "Error: ", and with a code at its end."""
    first, blank, rest = sentence.partition(" ")
    beginning = first.lower() if first in ("The", "There", "No") else first
    return (beginning + blank + rest).removesuffix(".")


class Forfeited(Failure):
    """A fault of the bot that cost the match."""

    exit_code = FORFEITED


def host_option(command: F) -> F:
    """``--host``, always with a value."""
    return click.option(
        "--host", default=DEFAULT_HOST, show_default=True, envvar="TRIARENA_HOST", show_envvar=True, help="The server."
    )(command)


def port_option(command: F) -> F:
    """``--port``."""
    return click.option(
        "--port",
        type=PORT,
        default=DEFAULT_PORT,
        show_default=True,
        envvar="TRIARENA_PORT",
        show_envvar=True,
        help="The server's port.",
    )(command)


def server_options(command: F) -> F:
    """``--host``, ``--port`` and what TLS takes."""
    return host_option(port_option(tls_options(command)))


def tls_options(command: F) -> F:
    """``--tls`` and ``--tls-ca``; ``connected`` finds them by itself, so the command does not get them."""
    flag = click.option(
        "--tls", is_flag=True, expose_value=False, callback=_note_tls, help="Talk to the server in TLS."
    )
    file = click.option(
        "--tls-ca",
        type=click.Path(path_type=Path, dir_okay=False),
        expose_value=False,
        callback=_note_tls,
        help="Likewise, and trust this certificate (PEM) instead of the system's authorities.",
    )
    return flag(file(command))


def _note_tls(ctx: click.Context, parameter: click.Parameter, value: bool | Path | None) -> None:
    if value:
        ctx.meta[f"triarena.{parameter.name}"] = value


def tls_arguments() -> list[str]:
    """The options about TLS of this command, for another one."""
    meta = click.get_current_context().meta
    if trusted := meta.get("triarena.tls_ca"):
        return ["--tls-ca", str(trusted)]
    return ["--tls"] if meta.get("triarena.tls") else []


def _tls() -> ssl.SSLContext | None:
    """What the options about TLS ask for. Raises ClientError for a file that can't be used."""
    from triarena.clients.tls import tls_context

    return tls_context(click.get_current_context().meta.get("triarena.tls_ca")) if tls_arguments() else None


def patience_option(command: F) -> F:
    """``--rejoin-patience``."""
    return click.option(
        "--rejoin-patience",
        type=click.FloatRange(0, 86400),
        default=600,
        show_default=True,
        metavar="SECONDS",
        help="How long to try to come back when the connection is lost or the server stops; 0: not at all.",
    )(command)


def secret_options(command: F) -> F:
    """``--secret`` and ``--secret-file``, for administrators."""
    secret = click.option(
        "--secret", envvar="TRIARENA_SECRET", show_envvar=True, help="The administrator secret of the server."
    )
    file = click.option(
        "--secret-file",
        type=click.Path(path_type=Path),
        help="A file that holds it.  [default: the one that a server on this machine wrote]",
    )
    return secret(file(command))


def game_options(command: F) -> F:
    """``--option NAME=VALUE``, any number of times; the command gets ``options`` as a dict."""
    return click.option(
        "--option",
        "options",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_read_options,
        help="An option of the game, e.g. size=10; may be repeated (see: triarena games).",
    )(command)


def _read_options(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, int | str]:
    options: dict[str, int | str] = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not (name and equals and value):
            raise click.BadParameter(f"{item!r} is not of the form NAME=VALUE, e.g. size=10")
        if name in options:
            raise click.BadParameter(f"{name!r} is given twice")
        options[name] = int(value) if value.removeprefix("-").isdecimal() and value.isascii() else value
    return options


@contextmanager
def explained() -> Iterator[None]:
    """Errors of the client end the command with their sentence and code, a bot's own with its traceback before."""
    from pydantic import ValidationError

    from triarena.clients.errors import BotError, ClientError

    try:
        yield
    except BotError as error:
        if error.traceback:
            click.echo(error.traceback, err=True)
        raise (Forfeited if error.match_over else Failure)(error.code, error.message) from None
    except ClientError as error:
        raise Failure(error.code, error.message) from None
    except ValidationError as error:  # something that was typed does not fit into a message
        raise click.UsageError(_invalid(error)) from None


def _invalid(error: ValidationError) -> str:
    """What does not fit, and why."""
    first = error.errors(include_url=False)[0]
    field = str(first["loc"][-1]) if first["loc"] else "the request"
    if field == "name":
        allowed = "at most 40 letters, digits, and . _ + - with blanks only inside"
        return f"{first['input']!r:.60} cannot be a player's name: it may have {allowed}"
    return f"{first['input']!r:.60} cannot be {field.replace('_', ' ')}: {first['msg']}"


@contextmanager
def connected(
    host: str, port: int, *, name: str | None = None, token: str | None = None, wait: float = 0, patience: float = 0
) -> Iterator[Connection]:
    """A greeted connection; errors are explained.

    It is tried again and again, for ``wait`` seconds if no server is there, for ``patience`` seconds at a full one.
    """
    from triarena.clients.connection import Connection

    with explained():
        opening = partial(Connection.open, host, port, name=name, token=token, tls=_tls())
        with _open(opening, f"the server at {host}:{port}", wait, max(wait, patience)) as connection:
            yield connection


def _open(opening: Callable[[], Connection], server: str, wait: float, patience: float) -> Connection:
    from triarena.clients.comeback import PASSING
    from triarena.clients.errors import CannotConnect, Farewell

    from .waiting import Waiting, WaitingThread

    began, waiting = time.monotonic(), Waiting(now=time.monotonic)
    waiting.begin(f"{server} to answer", after=SLOW_SECONDS)
    with WaitingThread(waiting):  # it may take the connection and be long in greeting
        while True:
            try:
                return opening()
            except CannotConnect as error:
                if time.monotonic() >= began + wait or error.code not in ABSENT:
                    raise
                why = "whose name is not known yet" if error.code == "unknown_host" else "which does not answer yet"
                waiting.begin(f"{server}, {why}, for {wait:g} s at most", after=UNSAID_SECONDS)
                pause = RETRY_SECONDS
            except Farewell as error:
                if time.monotonic() >= began + patience or error.code not in PASSING:
                    raise
                waiting.begin(f"{server}, for {patience:g} s at most: {error.message} [{error.code}]")
                pause = FULL_SECONDS
            waiting.look()
            time.sleep(pause)


def is_typed(parameter: str) -> bool:
    """Whether a parameter of this command stands on the command line, not only in the environment."""
    return click.get_current_context().get_parameter_source(parameter) is click.core.ParameterSource.COMMANDLINE


def unless_chosen(reservation: str | None, *, otherwise: bool) -> str | None:
    """The reservation; but one that only stands in the environment gives way where the command line chooses
    ``otherwise``.
    """
    return None if otherwise and not is_typed("reservation") else reservation


@contextmanager
def administrator(host: str, port: int, secret: str | None, secret_file: Path | None) -> Iterator[Administrator]:
    """An administrator's connection; errors are explained."""
    try:
        found, source = find_secret_and_source(secret, secret_file)
    except Failure as failure:
        if failure.code == "no_secret":
            with connected(host, port):  # where there is no server, no secret would help
                raise
        raise
    with connected(host, port) as connection:
        yield authenticate(connection, found, source, f"{host}:{port}")


def authenticate(connection: Connection, secret: str, source: str, server: str) -> Administrator:
    """Become an administrator of ``server``. Raises Failure for a wrong secret, which says where that was found."""
    from triarena.clients.admin import Administrator
    from triarena.clients.errors import ServerError

    try:
        return Administrator.authenticate(connection, secret)
    except ServerError as error:
        raise wrong_secret(source, server) if error.code == "wrong_secret" else error from None


def wrong_secret(source: str, server: str) -> Failure:
    """That a server refused the secret; ``source`` is where it was found."""
    return Failure(
        "wrong_secret",
        f"the secret from {source} is not the one of the server at {server}; that server keeps its own in the file "
        "'admin-secret' of its data directory: name it with --secret-file",
    )


def find_secret(secret: str | None, file: Path | None) -> str:
    """The administrator secret: as given, or from the file, or from the place where a server here keeps it."""
    return find_secret_and_source(secret, file)[0]


def find_secret_and_source(secret: str | None, file: Path | None) -> tuple[str, str]:
    """The administrator secret, and where it was found, for people; what is typed goes before the environment's.

    Raises Failure, and UsageError if two are typed.
    """
    if secret and file is not None and is_typed("secret_file"):
        if is_typed("secret"):
            raise click.UsageError("--secret and --secret-file each give a secret: leave one of them out")
        secret = None
    if secret:
        return secret, "--secret" if is_typed("secret") else "the variable TRIARENA_SECRET"
    place = file or _default_secret_file()
    if place is None or (file is None and not place.exists()):
        raise Failure(
            "no_secret",
            "an administrator needs the secret that the server made at its first start: "
            "pass --secret or --secret-file, or set TRIARENA_SECRET",
        )
    try:
        text = place.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise Failure("secret_unreadable", f"the secret cannot be read from {place}: {reason}") from None
    if not text:
        raise Failure("secret_unreadable", f"the file {place} is empty; it should hold the administrator secret")
    return text, f"the file {place}" + ("" if file else ", where a server started here would keep it,")


def _default_secret_file() -> Path | None:
    """Where a server on this machine, with the settings of this environment, keeps its secret."""
    try:
        from triarena.server.secret import FILE_NAME
        from triarena.server.settings_sources import SettingsError, load_settings
    except ImportError:  # without the extra there is no server here, and no secret of it
        return None
    config = os.environ.get("TRIARENA_CONFIG")
    try:
        return load_settings(Path(config) if config else None, os.environ, {}).server.data_dir / FILE_NAME
    except SettingsError as error:
        raise Failure(error.code, error.message) from None


def on_terminal() -> bool:
    """Whether standard output is a terminal that takes drawings and colours."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def terminal_width() -> int | None:
    """How many characters a line may have on standard output; None where that is no terminal, so any number."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
