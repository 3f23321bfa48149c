"""Everybody against everybody, as tables of the page: the results, and who is likely the stronger."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from triarena.organiser.report import EventReport
from triarena.organiser.wording import number, percent
from triarena.tournament.cross_table import Cell

from .markup import Markup, join, tag


def cross_table(report: EventReport) -> Markup:
    """What the bot of the row made against the bot of the column, in the order of the standings."""
    names = report.names
    rows = [
        [_cell(cell, same=row == column, row=names[row], column=names[column]) for column, cell in enumerate(cells)]
        for row, cells in enumerate(report.cells)
    ]
    return _square(
        report, names, rows, "Points that the bot of the row made against the bot of the column, out of games."
    )


def superiority_table(report: EventReport) -> Markup | None:
    """How likely it is that the bot of the row is the stronger one; None without ratings."""
    if report.ratings is None:
        return None
    ratings = report.ratings
    names = tuple(name for name in report.names if name in ratings.estimates)
    shares: dict[tuple[str, str], float] = {}
    for a, b in combinations(names, 2):
        shares[a, b] = ratings.over(a, b).superiority
        shares[b, a] = 1 - shares[a, b]
    rows = [[tag("td", class_="self") if a == b else _likelihood(a, b, shares[a, b]) for b in names] for a in names]
    caption = "“A over B”: how likely it is, in %, that the bot of the row (A) is stronger than that of the column (B)."
    return _square(report, names, rows, caption)


def _cell(cell: Cell | None, *, same: bool, row: str, column: str) -> Markup:
    if same:
        return tag("td", class_="self")
    if cell is None:
        return tag("td", "·", class_="soft")
    share = (cell.wins + cell.draws / 2) / cell.games
    said = f"{row} v {column}: {cell.wins} won, {cell.draws} drawn, {cell.losses} lost"
    return tag("td", number(cell.points), tag("span", f"/{cell.games}", class_="soft"), class_=_tint(share), title=said)


def _likelihood(a: str, b: str, share: float) -> Markup:
    return tag("td", percent(share), class_=_tint(share), title=f"{a} over {b}: {percent(share)} %")


def _tint(share: float) -> str | None:
    if share == 0.5:
        return None
    return ("good" if share >= 0.75 else "fair") if share > 0.5 else ("bad" if share <= 0.25 else "poor")


def places(report: EventReport) -> dict[str, str]:
    """Everybody's rank by name, as in the standings; those who share one are told apart by letters: ``3a``, ``3b``."""
    shared = Counter(line.rank for line in report.lines)
    seen: Counter[int] = Counter()
    found = {}
    for at, line in enumerate(report.lines, 1):
        if line.rank is None or shared[line.rank] == 1:
            found[line.player] = str(at if line.rank is None else line.rank)
            continue
        found[line.player] = f"{line.rank}{_letter(seen[line.rank])}"
        seen[line.rank] += 1
    return found


def _letter(number: int) -> str:
    """``a`` to ``z``, then ``aa`` and so on."""
    further, last = divmod(number, 26)
    return (_letter(further - 1) if further else "") + chr(ord("a") + last)


def _square(report: EventReport, names: tuple[str, ...], rows: list[list[Markup]], caption: str) -> Markup:
    ranks = places(report)
    numbers = [tag("th", ranks[name], class_="c", title=name, scope="col") for name in names]
    body = [
        tag("tr", tag("th", f"{ranks[name]}  {name}", scope="row", title=name), cells)
        for name, cells in zip(names, rows, strict=True)
    ]
    table = tag(
        "table",
        tag("thead", tag("tr", tag("th"), numbers)),
        tag("tbody", body),
        class_="cross",
    )
    return join(tag("div", table, class_="scroll"), tag("p", caption, class_="caption"))
