"""The standings of an event as a table of the page."""

from __future__ import annotations

from triarena.organiser.report import EventReport, Line
from triarena.organiser.wording import FAILURE_TITLES, glicko2, number, rating, record, tie_break

from .markup import Markup, join, tag

NO_BREAK = "\u2011"
"""A hyphen after which no line begins."""
LONGEST_UNBROKEN = 6
"""Longer titles may be broken at their hyphens, so that all columns fit a screen."""


def standings_table(report: EventReport) -> Markup:
    """Every bot with all that ranks it; columns sort when clicked."""
    byes = any(line.row.byes for line in report.lines)
    unfinished = any(line.row.unfinished for line in report.lines)
    names = report.tie_breaks
    head = [
        _heading("#", "up", "Rank"),
        tag("th", "bot", data_sort="up", scope="col"),
        *([_heading("Glicko-2", "down", "the ladder's rating with its deviation")] if _is_ladder(report) else []),
        _heading("points", "down"),
        _heading("W-D-L", "down", "wins, draws, losses"),
        *([tag("th", "reached", scope="col")] if report.placed_by_rounds else []),
        _heading("played", "down"),
        *([_heading("byes", "down")] if byes else []),
        _heading("rating", "down", "Elo scale, the average of all being 0, with its 95 % interval"),
        *(_heading(tie_break(name), "down", "tie-break") for name in names),
        *(_heading(kind, "down", "games lost so") for kind in FAILURE_TITLES),
        *(
            [_heading("unfinished", "down", "games drawn since they lasted as long as a game may")]
            if unfinished
            else []
        ),
    ]
    rows = [
        tag("tr", _cells(line, names, byes, unfinished), class_="winner" if report.over and line.rank == 1 else None)
        for line in report.lines
    ]
    table = tag("table", tag("thead", tag("tr", head)), tag("tbody", rows), class_="standings")
    return join(tag("div", table, class_="scroll"), tag("p", _caption(report), class_="caption"))


def _heading(title: str, order: str, explained: str | None = None) -> Markup:
    unbroken = title.replace("-", NO_BREAK) if len(title) <= LONGEST_UNBROKEN else title
    return tag("th", unbroken, class_="n", data_sort=order, scope="col", title=explained)


def _cells(line: Line, names: tuple[str, ...], byes: bool, unfinished: bool) -> list[Markup]:
    row, rated = line.row, line.telling
    lot = tag("span", " lot", class_="soft", title="Only the lot parts it from a neighbour") if line.by_lot else None
    return [
        tag("td", "–" if line.rank is None else str(line.rank), lot, class_="n", data_value=row.rank),
        tag("th", line.player, scope="row", title=line.player),
        *([tag("td", glicko2(line.ladder), class_="n", data_value=line.ladder.rating)] if line.ladder else []),
        tag("td", number(row.points), class_="n points", data_value=row.points),
        tag("td", record(line), class_="n", data_value=row.wins),
        *([tag("td", line.reached)] if line.reached is not None else []),
        tag("td", str(row.played), class_="n"),
        *([tag("td", str(row.byes), class_="n")] if byes else []),
        tag("td", rating(line), class_="n", data_value=-1e9 if rated is None else rated.elo),
        *(tag("td", number(row.tie_breaks[name]), class_="n", data_value=row.tie_breaks[name]) for name in names),
        *(tag("td", str(count), class_="n failed" if count else "n zero") for count in line.failures),
        *([tag("td", str(row.unfinished), class_="n" if row.unfinished else "n zero")] if unfinished else []),
    ]


def _is_ladder(report: EventReport) -> bool:
    return any(line.ladder is not None for line in report.lines)


def _caption(report: EventReport) -> str:
    order = ", then ".join(["points", *(tie_break(name) for name in report.tie_breaks), "the lot"])
    ranked = f"Ranked as the knockout decided, then by {order}" if report.placed else f"Ranked by {order}"
    if _is_ladder(report):
        ranked = "Ranked by the Glicko-2 rating, where ± is its deviation (95 % lie within about twice as much)"
    lots = " (where “lot” stands, it decided)" if any(line.by_lot for line in report.lines) else ""
    which = "The other ratings" if _is_ladder(report) else "Ratings"
    hidden = any(line.rating is not None and line.telling is None for line in report.lines)
    too_few = " Where “–” stands, there are too few games to say; it counts in the average all the same." * hidden
    return (
        f"{ranked}{lots}. {which} come from one Bradley-Terry model with draws, fitted over all games; the average is "
        f"0, and ± spans the 95 % interval.{too_few}{_unplayed(report)}"
    )


def _unplayed(report: EventReport) -> str:
    """How tie-breaks count what was not played, if there is any such thing."""
    counts = {"buchholz", "buchholz_cut_1", "sonneborn_berger"}.intersection(report.tie_breaks)
    if not counts or not (report.absences or any(line.row.byes for line in report.lines)):
        return ""
    return " A bye, and an encounter that was not played, counts in them as if the opponent had one’s own points."
