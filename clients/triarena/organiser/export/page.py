"""The page of a tournament: one HTML file that needs nothing else."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256

from triarena.organiser.report import TournamentReport
from triarena.organiser.wording import OBVIOUS

from .event_section import event_section, moment, notes, state
from .markup import Markup, pieces, tag
from .style import SCRIPT, STYLE

REFRESH_SECONDS = 15
"""How often the page of a running tournament is loaded anew."""


def page(report: TournamentReport, at: datetime, replay: str, where: str = "") -> Iterator[str]:
    """The document, piece by piece.

    ``at`` is now, and tells the time zone of what is shown. ``replay`` is the command that shows a match again, with
    ``{match}`` where its id belongs, and ``where`` a clause that says where it is to be given.
    """
    running = report.state == "running"
    body = pieces(
        "body",
        tag(
            "header",
            tag("div", tag("h1", report.name), state(report.state)),
            tag("p", report.why) if report.why not in OBVIOUS else None,
            tag("p", f"Begun {_date(report.started_at, at)}; this page is of {_date(at, at)}.", class_="soft"),
            _links(report),
            class_="top",
        ),
        pieces("main", notes(report.notes, at), (event_section(event, at, replay, where) for event in report.events)),
        tag(
            "footer",
            "A click on a heading sorts. The same figures are in games.csv, standings.csv and games.jsonl. Made by "
            "TriArena.",
        ),
        tag("script", Markup(SCRIPT)),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy()),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", http_equiv="refresh", content=REFRESH_SECONDS) if running else None,
        tag("title", report.name),
        tag("style", Markup(STYLE)),
    )
    yield "<!doctype html>\n"
    yield from pieces("html", head, body, lang="en")
    yield "\n"


def _links(report: TournamentReport) -> Markup | None:
    if len(report.events) < 2:
        return None
    return tag("nav", [tag("a", each.event.name, href=f"#{each.event.slug}") for each in report.events])


def _policy() -> str:
    """Nothing is loaded and no script runs but ours, whatever slipped into the page."""
    ours = b64encode(sha256(SCRIPT.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{ours}'"


def _date(when: datetime, at: datetime) -> str:
    here = when.astimezone(at.tzinfo)
    return f"{here:%Y-%m-%d %H:%M}" if here.date() != at.date() else f"{here:%Y-%m-%d}, {moment(when, at)}"
