"""The standings as columns of text that fit a width: the same for the live table, its end and pipes.

Rank, bot, points and W-D-L are never shortened. What has no room beside them is left out, the least telling first:
failures that nobody has, the interval of the rating, the tie-break, the rating, and the failures that somebody has. A
name that is too long even then goes on in the next line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal, TypeAlias

from rich.cells import cell_len, chop_cells

from .report import EventReport, Line
from .wording import FAILURE_TITLES, glicko2, number, rank, rating, rating_alone, record, tie_break

GAP: Final = "  "
NARROWEST_NAME: Final = 8
"""Cells; in a terminal that is narrower still, lines are too long."""
Kind: TypeAlias = Literal["plain", "failure", "none"]
"""Of a cell: anything; how often a bot failed; and that it never did."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A text of its column's width, and what it is."""

    text: str
    kind: Kind = "plain"


@dataclass(frozen=True, slots=True)
class Table:
    """Lines of cells, to be set with ``GAP`` between them."""

    headings: tuple[tuple[Cell, ...], ...]
    """One line, or two."""
    rows: tuple[tuple[tuple[Cell, ...], ...], ...]
    """For each bot its lines: mostly one."""


@dataclass(frozen=True, slots=True)
class _Column:
    title: tuple[str, str]
    """In two lines, so that no column is wide for its title's sake; the first may be empty."""
    cells: tuple[str, ...]
    dropped: int = 0
    """In which turn it is left out; 0: never."""
    shortened: tuple[int, tuple[str, ...]] | None = None
    """In which turn it gets other cells, and those."""
    kind: Kind = "plain"

    @property
    def width(self) -> int:
        return max(map(cell_len, (*self.title, *self.cells)))


def standings_columns(report: EventReport, width: int | None = None) -> Table:
    """The standings in at most ``width`` cells; None: as wide as they are."""
    columns = _columns(report)
    if width is not None:
        columns = _fitting(columns, width)
    name = next(at for at, column in enumerate(columns) if column.title[1] == "bot")
    widths = [column.width for column in columns]
    if width is not None:
        widths[name] = max(NARROWEST_NAME, min(widths[name], widths[name] + width - _width(columns)))
    titles = [line for line in zip(*(column.title for column in columns), strict=True) if any(line)]
    headings = tuple(tuple(Cell(_set(text, widths[at], at == name)) for at, text in enumerate(line)) for line in titles)
    return Table(headings, tuple(_row(columns, widths, name, place) for place in range(len(report.lines))))


def text_of(table: Table) -> list[str]:
    """Its lines without blanks at their ends."""
    lines = (*table.headings, *(line for row in table.rows for line in row))
    return [GAP.join(cell.text for cell in line).rstrip() for line in lines]


def _columns(report: EventReport) -> list[_Column]:
    """All columns, from left to right, each with the turn in which it gives way."""

    def column(title: str, cell: Callable[[Line], str], dropped: int = 0) -> _Column:
        return _Column(_split(title), tuple(map(cell, report.lines)), dropped)

    alone = tuple(map(rating_alone, report.lines))
    columns = [
        column("#", rank),
        column("bot", lambda line: line.player),
        # Who is out of a knockout first may have more points than who comes further: they rank nobody.
        column("reached", lambda line: line.reached or "–")
        if report.placed_by_rounds
        else column("points", lambda line: number(line.row.points)),
        column("W-D-L", record),
        replace(column("rating", rating, 30), shortened=(10, alone)),
    ]
    ladder = [glicko2(line.ladder) for line in report.lines if line.ladder is not None]
    if ladder:  # it is what the ranks come from
        columns.insert(2, _Column(_split("Glicko-2"), tuple(ladder)))
    for name in report.tie_breaks[:1]:
        columns.append(column(tie_break(name), partial(_tie_break, name), 20))
    for at, title in enumerate(FAILURE_TITLES):
        counts = [line.failures[at] for line in report.lines]
        turn = len(FAILURE_TITLES) - at  # the last one is the first to go
        columns.append(_Column(_split(title), tuple(map(str, counts)), turn + 40 * any(counts), kind="failure"))
    if any(line.row.byes for line in report.lines):
        columns.append(column("byes", lambda line: str(line.row.byes), 44))
    if any(line.row.unfinished for line in report.lines):
        columns.append(column("unfinished", lambda line: str(line.row.unfinished), 45))
    return columns


def _split(title: str) -> tuple[str, str]:
    upper, _, lower = title.partition(" ")
    return (upper, lower) if lower else ("", title)


def _tie_break(name: str, line: Line) -> str:
    return number(line.row.tie_breaks[name])


def _fitting(columns: Sequence[_Column], width: int) -> list[_Column]:
    """What is left of the columns when the least telling ones have given way."""
    left = list(columns)
    turns = {column.dropped for column in left} | {column.shortened[0] for column in left if column.shortened}
    for turn in sorted(turns - {0}):
        if _width(left) <= width:
            break
        left = [_shortened(column, turn) for column in left if column.dropped != turn]
    return left


def _shortened(column: _Column, turn: int) -> _Column:
    if column.shortened is None or column.shortened[0] != turn:
        return column
    return replace(column, cells=column.shortened[1])


def _width(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + len(GAP) * (len(columns) - 1)


def _row(columns: Sequence[_Column], widths: Sequence[int], name: int, place: int) -> tuple[tuple[Cell, ...], ...]:
    """The lines of one bot: its name's parts below each other, all else in the first."""
    parts = list(_broken(columns[name].cells[place], widths[name]))
    first = [column.cells[place] for column in columns]
    lines = []
    for at, part in enumerate(parts):
        texts = [part if column == name else text if at == 0 else "" for column, text in enumerate(first)]
        lines.append(
            tuple(
                Cell(_set(text, widths[column], column == name), _kind(columns[column], text))
                for column, text in enumerate(texts)
            )
        )
    return tuple(lines)


def _kind(column: _Column, text: str) -> Kind:
    if column.kind != "failure" or not text:
        return "plain"
    return "none" if text == "0" else "failure"


def _broken(name: str, width: int) -> Iterator[str]:
    """A name in lines of at most ``width`` cells, at blanks if that is possible."""
    line = ""
    for word in name.split(" "):
        if cell_len(f"{line} {word}".strip()) <= width:
            line = f"{line} {word}".strip()
            continue
        if line:
            yield line
        *full, line = chop_cells(word, width)
        yield from full
    yield line


def _set(text: str, width: int, left: bool) -> str:
    blanks = " " * max(0, width - cell_len(text))
    return text + blanks if left else blanks + text
