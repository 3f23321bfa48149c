"""What the page says of one event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from triarena.organiser.records import Note
from triarena.organiser.report import EventReport
from triarena.organiser.wording import OBVIOUS, STATES, progress, terms

from .cross_tables import cross_table, superiority_table
from .markup import Markup, pieces, tag
from .rating_chart import rating_chart
from .rounds import bracket, rounds
from .standings_table import standings_table

NUMBERS = "A game’s number is round.table.game: 2.3.1 is the first game at table 3 of round 2."
SQUARES_UP_TO = 64
"""For how many bots tables of everybody against everybody are shown."""


def event_section(report: EventReport, at: datetime, replay: str, where: str = "") -> Iterator[Markup]:
    """A section with its own heading, piece by piece; ``at`` is now, and tells the time zone of what is shown.

    See ``page``.
    """
    event, chart = report.event, rating_chart(report)
    squares = len(report.lines) <= SQUARES_UP_TO
    likelihood = superiority_table(report) if squares else None
    return pieces(
        "section",
        tag("div", tag("h2", event.name), state(report.state)),
        tag("p", [tag("span", clause) for clause in terms(event)], class_="terms soft"),
        tag("p", report.stored.why) if report.stored.why not in OBVIOUS else None,
        tag("div", tag("i", style=f"width: {report.progress.share:.1%}"), class_="bar"),
        tag("p", progress(report.progress, at if report.state == "running" else None)),
        tag("h3", "Standings"),
        standings_table(report),
        (tag("h3", "Bracket"), bracket(report)) if event.format in ("knockout", "double_knockout") else None,
        (tag("h3", "Ratings"), chart) if chart is not None else None,
        tag(
            "div",
            tag("div", tag("h3", "Cross table"), cross_table(report)),
            tag("div", tag("h3", "Who is stronger?"), likelihood) if likelihood is not None else None,
            class_="beside",
        )
        if squares
        else None,
        notes(report.notes, at),
        tag("h3", "Games"),
        tag("p", NUMBERS + (f" To see a match again, give its command {where}." if where else ""), class_="caption"),
        rounds(report, replay),
        id=event.slug,
    )


def state(name: str) -> Markup:
    """How something stands, as a badge."""
    return tag("span", STATES[name], class_=f"state {name}")


def notes(found: Sequence[Note], at: datetime) -> Markup | None:
    """What happened besides, the oldest first."""
    if not found:
        return None
    lines = [tag("li", tag("span", f"{moment(note.at, at)} ", class_="soft"), note.text) for note in found]
    return tag("div", tag("h3", "Notes"), tag("ul", lines, class_="notes"))


def moment(when: datetime, at: datetime) -> str:
    """A time of day in the zone of ``at``; with the date if it isn't the same day."""
    here = when.astimezone(at.tzinfo)
    return f"{here:%H:%M:%S}" if here.date() == at.date() else f"{here:%Y-%m-%d %H:%M}"
