"""``triarena matches``: the stored matches and how they ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .storage import journal_explained, journal_url, storage_options
from .table import table

if TYPE_CHECKING:
    from triarena.server.journal import MatchSummary


@click.command()
@storage_options
@click.option("--game", help="Only this game.")
@click.option("--player", help="Only matches in which somebody of this name played.")
@click.option("--unfinished", is_flag=True, help="Only matches without a result.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=20, show_default=True, help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def matches(
    config: Path | None,
    data_dir: Path | None,
    database: str | None,
    game: str | None,
    player: str | None,
    unfinished: bool,
    limit: int,
    as_json: bool,
) -> None:
    """List the stored matches, the newest first. Works while the server runs.

    \b
    $ triarena matches --game towerwars --limit 50
    $ triarena matches --player Ann --json | jq .winner
    """
    from triarena.server.journal import list_matches

    url = journal_url(config, data_dir, database)
    with journal_explained():
        found = list_matches(url, limit=limit, game=game, player=player, finished=False if unfinished else None)
    if as_json:
        for match in found:
            click.echo(json.dumps(_plain(match)))
    elif not found:
        click.echo("no such matches are stored", err=True)
    else:
        headings = ("match", "game", "red", "blue", "plies", "result", "started (UTC)")
        click.echo(table(headings, [_row(match) for match in found]))


def _row(match: MatchSummary) -> tuple[str, ...]:
    when = match.opened_at.strftime("%Y-%m-%d %H:%M:%S")
    return (match.match, match.game, match.red, match.blue, str(match.plies), _result(match), when)


def _result(match: MatchSummary) -> str:
    if match.kind is None:
        return "unfinished"
    if match.kind == "aborted":
        return f"aborted ({match.reason})"
    return f"{match.winner + ' won' if match.winner else 'nobody won'} ({match.reason})"


def _plain(match: MatchSummary) -> dict[str, object]:
    return {
        "match": match.match,
        "room": match.room,
        "game": match.game,
        "red": match.red,
        "blue": match.blue,
        "plies": match.plies,
        "kind": match.kind,
        "winner": match.winner,
        "reason": match.reason,
        "opened_at": match.opened_at.isoformat(),
        "ended_at": match.ended_at and match.ended_at.isoformat(),
    }
