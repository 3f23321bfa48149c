"""``triarena tournament standings``: how a tournament stands."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triarena.cli.invocation import command
from triarena.cli.options import terminal_width

from .opening import existing, free_processors, told
from .paths import FOLDER

if TYPE_CHECKING:
    from triarena.organiser.report import EventReport


@click.command(epilog="Exit code 0: shown; 1: there is no tournament, or it can't be read; 2: wrong use.")
@FOLDER
@click.option("--json", "as_json", is_flag=True, help="One JSON object per event.")
def standings(folder: Path, as_json: bool) -> None:
    """Show how the tournament in FOLDER stands, also while it runs.

    In a terminal, columns that have no room are left out; in a pipe none is.

    \b
    $ triarena tournament standings class.tournament
    $ triarena tournament standings class.tournament --json
    """
    from triarena.organiser.report import report_tournament

    with told():
        place = existing(folder)
        with place.snapshot() as contents:
            report = report_tournament(place.file(contents, free_processors()), contents)
    if report.state == "interrupted" and not as_json:
        from .running import relative

        click.echo(
            f"{report.name}: {report.why}; go on with: {command('tournament', 'resume', relative(place.path))}\n"
        )
    for event in report.events:
        click.echo(json.dumps(plain(event)) if as_json else _text(event))


def _text(event: EventReport) -> str:
    from triarena.organiser.live import plain_view

    return plain_view(event, terminal_width()) + "\n"


def plain(event: EventReport) -> dict[str, Any]:
    """An event's standings as JSON takes them."""
    lines = [
        {
            "rank": line.rank,
            "player": line.player,
            "played": line.row.played,
            "wins": line.row.wins,
            "draws": line.row.draws,
            "losses": line.row.losses,
            "points": line.row.points,
            "tie_breaks": dict(line.row.tie_breaks),
            "by_lot": line.by_lot,
            "rating": None if line.rating is None else asdict(line.rating),
            "forfeits": dict(line.row.forfeits),
            "unfinished": line.row.unfinished,
            "glicko2": None if line.ladder is None else asdict(line.ladder),
        }
        for line in event.lines
    ]
    return {
        "event": event.event.slug,
        "name": event.event.name,
        "state": event.state,
        "progress": asdict(event.progress),
        "standings": lines,
    }
