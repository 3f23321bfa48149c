"""``triarena token``: a token for a bot, and what the server is to know of it."""

from __future__ import annotations

import click

from triarena.server.bots import new_token, token_line

from .invocation import program


@click.command()
@click.argument("name")
def token(name: str) -> None:
    """Make a token, with which a bot proves that NAME is its own.

    Give the token to the bot's owner, and put the line into the file that the server's setting bots.tokens names; it
    holds no token but a digest. Nothing is kept: for a lost token make another one.

    \b
    $ triarena token Ada
    """
    value = new_token()
    try:
        line = token_line(name, value)
    except ValueError as error:
        raise click.UsageError(f"{error}: at most 40 letters, digits, and . _ + - with blanks only inside") from None
    click.echo(f"for the owner of the bot:  TRIARENA_TOKEN={value} {program()} join --name {_shown(name)} ...")
    click.echo("                           (or --token TOKEN, which others on the same machine may see)")
    click.echo(f"for the server's file:     {line}")


def _shown(name: str) -> str:
    return f'"{name}"' if " " in name else name
