"""``triarena token``: a token for a bot, and what the server is to know of it."""

from __future__ import annotations

import os
from pathlib import Path

import click

from triarena.protocol.identity import canonical
from triarena.server.bots import load_bot_tokens, new_token, token_line
from triarena.server.settings_sources import SettingsError

from .invocation import program
from .options import Failure


@click.command()
@click.argument("name")
@click.option(
    "--file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the server's line to the end of this file instead; it is made if there is none.",
)
def token(name: str, file: Path | None) -> None:
    """Make a token, with which a bot proves that NAME is its own.

    Standard output gets the line for the file that the server's setting bots.tokens names; it holds no token but a
    digest. What the bot's owner needs to know goes to standard error. Nothing is kept: for a lost token make another
    one. The server reads its file when it starts.

    \b
    $ triarena token Ada --file bots.toml
    $ triarena token Ada >> bots.toml
    """
    value = new_token()
    try:
        line = token_line(name, value)
    except ValueError as error:
        raise click.UsageError(f"{error}: at most 40 letters, digits, and . _ + - with blanks only inside") from None
    if file is None:
        click.echo(line)
    else:
        _append(file, name, line)
    written = f"the last line of {file}" if file is not None else "the line on standard output"
    for sentence in (
        f"for the owner of the bot:  TRIARENA_TOKEN={value} {program()} join --name {_shown(name)} ...",
        "                           (or --token TOKEN, which others on the same machine may see)",
        f"for the server:            {written}, in the file that the setting bots.tokens names",
    ):
        click.echo(sentence, err=True)


def _append(file: Path, name: str, line: str) -> None:
    """Put the line behind those of a file, which nobody else may write. Raises Failure, and changes nothing then."""
    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        if text and canonical(name) in load_bot_tokens(file):
            sentence = f"{name!r} has a token in {file} already; take that line out first if the token is lost"
            raise Failure("name_taken", sentence)
        with file.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(("\n" if text and not text.endswith("\n") else "") + line + "\n")
            stream.flush()
            os.fsync(stream.fileno())
    except SettingsError as error:
        raise Failure(error.code, error.message) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise Failure("cannot_write", f"the line cannot be added to {file}: {reason}") from None


def _shown(name: str) -> str:
    return f'"{name}"' if " " in name else name
