"""A tournament while it runs, for a terminal: who stands where, what is played, who waits for whom, what ended.

The same as a rich renderable for a terminal that can be painted, and as lines of text for pipes. Both are made from an
``EventReport`` and from what only the running tool knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from .report import EventReport, Game, Line
from .wording import (
    FAILURE_TITLES,
    STATES,
    number,
    progress,
    rating,
    reason,
    record,
    score,
    seconds,
    terms,
    tie_break,
)

MOST_RESULTS: Final = 5
MOST_WAITS: Final = 5
BAR: Final = 60


@dataclass(frozen=True, slots=True)
class RunningGame:
    """A game that is being played."""

    id: str
    red: str
    blue: str
    state: str
    """In a word or two, e.g. ``ply 12``."""
    seconds: float
    """Since its attempt began."""


@dataclass(frozen=True, slots=True)
class Live:
    """An event at a moment."""

    report: EventReport
    at: datetime
    """Now, in the zone in which times are shown."""
    running: tuple[RunningGame, ...] = ()
    waits: tuple[str, ...] = ()
    """Sentences: who waits for whom."""


def live_view(live: Live, height: int | None = None) -> RenderableType:
    """What the terminal shows; with ``height`` the standings are cut so that the rest stays on the screen."""
    report = live.report
    waits = _shortened(live.waits, MOST_WAITS)
    below = [*_running(live.running), *(Text(sentence, style="yellow") for sentence in waits), *_results(report)]
    room = None if height is None else max(3, height - len(below) - 8)
    return Group(
        Text.assemble((report.event.name, "bold"), "  ", (STATES[report.state], "green")),
        Text(" · ".join(terms(report.event)), style="dim", no_wrap=True, overflow="ellipsis"),
        _bar(report),
        Text(progress(report.progress, live.at)),
        _standings(report, room),
        *below,
    )


def plain_view(report: EventReport) -> str:
    """The standings as lines of text: for pipes, and for a look at a tournament that runs or has ended."""
    rows = [*_headings(report), *(_cells(report, line) for line in report.lines)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        f"{report.event.name}: {STATES[report.state]}" + (f" ({report.stored.why})" if report.stored.why else ""),
        " · ".join(terms(report.event)),
        progress(report.progress),
        "",
        *("  ".join(_set(cell, index, widths[index]) for index, cell in enumerate(row)).rstrip() for row in rows),
    ]
    return "\n".join(lines)


def _bar(report: EventReport) -> Text:
    done = round(BAR * report.progress.share)
    return Text.assemble(("━" * done, "green"), ("━" * (BAR - done), "bright_black"))


def _standings(report: EventReport, room: int | None) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for index, (upper, lower) in enumerate(zip(*_headings(report), strict=True)):
        title = f"{upper}\n{lower}" if upper else lower
        table.add_column(
            title, vertical="bottom", justify="left" if index == 1 else "right", no_wrap=True, overflow="ellipsis"
        )
    shown = report.lines if room is None or len(report.lines) <= room else report.lines[: room - 1]
    for line in shown:
        cells = [Text(cell) for cell in _cells(report, line)]
        for cell, count in zip(cells[-len(line.failures) :], line.failures, strict=True):
            cell.stylize("yellow" if count else "dim")
        table.add_row(*cells)
    if len(shown) < len(report.lines):
        table.add_row("", Text(f"and {len(report.lines) - len(shown)} more", style="dim"))
    return table


def _headings(report: EventReport) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns' titles in two lines, so that no column is wide for its title's sake."""
    breaks = (tie_break(name) for name in report.tie_breaks[:1])
    titles = ("#", "bot", "points", "W-D-L", "rating", *breaks, *FAILURE_TITLES)
    split = [title.split(" ", 1) if " " in title else ("", title) for title in titles]
    return tuple(upper for upper, _ in split), tuple(lower for _, lower in split)


def _cells(report: EventReport, line: Line) -> tuple[str, ...]:
    row = line.row
    breaks = (number(row.tie_breaks[name]) for name in report.tie_breaks[:1])
    rank = f"{row.rank} (lot)" if row.by_lot else str(row.rank)
    return (rank, line.player, number(row.points), record(line), rating(line), *breaks, *map(str, line.failures))


def _set(cell: str, index: int, width: int) -> str:
    return cell.ljust(width) if index == 1 else cell.rjust(width)


def _running(games: Sequence[RunningGame]) -> Iterator[Text]:
    for game in games:
        yield Text.assemble(
            (f"{game.id:>8}  ", "dim"), (game.red, "red"), " v ", (game.blue, "blue"),
            (f"  {game.state}, {seconds(game.seconds)}", "dim"),
            no_wrap=True, overflow="ellipsis",
        )  # fmt: skip


def _results(report: EventReport) -> Iterator[Text]:
    """The last ones, the newest first."""
    ended = [(game.result.ended_at, game) for game in report.games() if game.result is not None]
    ended.sort(key=lambda each: each[0], reverse=True)
    for _, game in ended[:MOST_RESULTS]:
        yield Text(_result(game), style="dim", no_wrap=True, overflow="ellipsis")


def _result(game: Game) -> str:
    assert game.played is not None
    fixture = game.fixture
    return f"{fixture.id}: {fixture.red} {score(game.played)} {fixture.blue}, {reason(game.played)}"


def _shortened(sentences: Sequence[str], most: int) -> list[str]:
    if len(sentences) <= most:
        return list(sentences)
    return [*sentences[: most - 1], f"and {len(sentences) - most + 1} more wait"]
