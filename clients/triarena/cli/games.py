"""``triarena games``: what can be played, here or at a server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from .options import connected, port_option, tls_options

if TYPE_CHECKING:
    from triarena.games import AnyGame
    from triarena.protocol.values import GameInfo


@click.command()
@click.option("--host", help="Ask this server; without it, the games of this installation are listed.")
@port_option
@tls_options
@click.option("--json", "as_json", is_flag=True, help="One line of JSON per game.")
def games(host: str | None, port: int, as_json: bool) -> None:
    """List the games with their options, ranges and defaults.

    \b
    $ triarena games
    $ triarena games --host 127.0.0.1 --json
    """
    if host is None:
        from triarena.games import games as registered

        offered = [_installed(game) for game in registered().values()]
    else:
        with connected(host, port) as connection:
            offered = [_served(info) for info in connection.welcome.games]
    if as_json:
        for game in offered:
            click.echo(json.dumps(game))
    else:
        click.echo("\n\n".join(map(_in_words, offered)))


def _served(info: GameInfo) -> dict[str, Any]:
    """A game as a server offers it."""
    return info.model_dump(exclude_none=True)


def _installed(game: AnyGame) -> dict[str, Any]:
    """A game of this installation, in the same form."""
    from triarena.games import IntOption

    options: list[dict[str, Any]] = []
    for option in game.options:
        if isinstance(option, IntOption):
            span: dict[str, Any] = {"minimum": option.minimum, "maximum": option.maximum}
        else:
            span = {"choices": list(option.choices)}
        options.append({"name": option.name, **span, "default": option.default, "description": option.description})
    return {"name": game.name, "title": game.title, "rules_version": game.rules_version, "options": options}


def _in_words(game: dict[str, Any]) -> str:
    from triarena.games.registry import BUILT_IN

    lines = [f"{game['name']}: {game['title']}, rules version {game['rules_version']}"]
    for option in game["options"]:
        span = f"{option['minimum']} to {option['maximum']}" if "minimum" in option else " | ".join(option["choices"])
        lines.append(f"  --option {option['name']}={option['default']}   {span}; {option['description']}")
    if game["name"] in BUILT_IN:
        lines.append(f"  rules: docs/rules/{game['name']}.md in the project's folder")
    return "\n".join(lines)
