"""``triarena matches``: the stored matches and how they ended."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .storage import journal_explained, journal_url, storage_options
from .table import table
from .times import local

if TYPE_CHECKING:
    from triarena.server.journal import MatchSummary

FIELDS = ("match", "room", "game", "red", "blue", "plies", "kind", "winner", "reason", "opened_at", "ended_at")


@click.command()
@storage_options
@click.option("--game", help="Only this game.")
@click.option("--player", help="Only matches in which somebody of this name played.")
@click.option("--unfinished", is_flag=True, help="Only matches without a result.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=20, show_default=True, help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
@click.option("--csv", "as_csv", is_flag=True, help="A table for spreadsheets, with a line of headings.")
def matches(
    config: Path | None,
    data_dir: Path | None,
    database: str | None,
    game: str | None,
    player: str | None,
    unfinished: bool,
    limit: int,
    as_json: bool,
    as_csv: bool,
) -> None:
    """List the stored matches, the newest first. Works while the server runs.

    They are read from the server's database, not asked for over the network: so it takes no --host and no --port, but
    --data-dir or --database, on the server's machine.

    \b
    $ triarena matches --game towerwars --limit 50
    $ triarena matches --player Ann --json | jq .winner
    $ triarena matches --limit 1000 --csv > matches.csv
    """
    from triarena.server.journal import list_matches

    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other")
    url = journal_url(config, data_dir, database)
    with journal_explained():
        found = list_matches(url, limit=limit, game=game, player=player, finished=False if unfinished else None)
    if game is not None and not found:
        _check_game(game)
    if as_json:
        for match in found:
            click.echo(json.dumps(_plain(match)))
    elif as_csv:
        click.echo(_as_csv(found), nl=False)
    elif not found:
        click.echo("no such matches are stored", err=True)
    else:
        headings = ("match", "game", "red", "blue", "plies", "result", "started")
        click.echo(table(headings, [_row(match) for match in found]))


def _check_game(name: str) -> None:
    """Tell a name that is not even a game from a game of which nothing is stored."""
    from triarena.games import UnknownGame, find_game

    try:
        find_game(name)
    except UnknownGame as error:
        raise click.BadParameter(str(error), param_hint="--game") from None


def _as_csv(found: Sequence[MatchSummary]) -> str:
    lines = io.StringIO()
    writer = csv.DictWriter(lines, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_plain(match) for match in found)
    return lines.getvalue()


def _row(match: MatchSummary) -> tuple[str, ...]:
    opened = local(match.opened_at)
    return (match.match, match.game, match.red, match.blue, str(match.plies), _result(match), opened)


def _result(match: MatchSummary) -> str:
    if match.kind is None:
        return "unfinished"
    if match.kind == "aborted":
        return f"aborted ({match.reason})"
    return f"{match.winner + ' won' if match.winner else 'nobody won'} ({match.reason})"


def _plain(match: MatchSummary) -> dict[str, object]:
    values = {name: getattr(match, name) for name in FIELDS}
    opened, ended = match.opened_at.isoformat(), match.ended_at and match.ended_at.isoformat()
    return {**values, "opened_at": opened, "ended_at": ended}
