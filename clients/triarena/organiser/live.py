"""A tournament while it runs, for a terminal: who stands where, what is played, who waits for whom, what ended.

The same as a rich renderable for a terminal that can be painted, and as lines of text for pipes. Both are made from an
``EventReport`` and from what only the running tool knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from textwrap import wrap
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Group, RenderableType
from rich.text import Text

from triarena.tournament.values import Played

from .columns import GAP, NARROWEST_NAME, Cell, Table, standings_columns, text_of
from .report import EventReport
from .wording import OBVIOUS, STATES, progress, reason, score, seconds, terms

MOST_RUNNING: Final = 6
MOST_WAITS: Final = 5
BAR: Final = 60
LEAST_ROWS: Final = 3
"""Of the standings, in a terminal of few lines."""


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


def live_view(live: Live, width: int = 80, height: int | None = None) -> RenderableType:
    """What the terminal shows, in lines of at most ``width`` cells, and at most ``height`` of them.

    Where not everything has room, the best bots stay, and of the rest what matters more: games that run, then who
    waits, then the last results.
    """
    report = live.report
    head = [
        Text.assemble((report.event.name, "bold"), "  ", (_state(live), "green")),
        Text(" · ".join(terms(report.event)), style="dim"),
        _bar(report, min(BAR, width)),
        Text(progress(report.progress, live.at, width)),  # one line always, so that nothing below it jumps
    ]
    table = standings_columns(report, width)
    head += [Text(GAP.join(cell.text for cell in line), style="bold") for line in table.headings]
    now = (live.running, live.waits) if report.state != "cancelled" else ((), ())
    waits = [Text(sentence, style="yellow") for sentence in _shortened(now[1], MOST_WAITS)]
    below = [*_running(now[0], width), *waits, *_results(report, width)]
    if height is None:
        rows = _rows(table, None)
    else:
        room = height - len(head)
        rows = _rows(table, max(room - len(below), room // 2, LEAST_ROWS))
        below = below[: max(0, room - len(rows))]
    lines = [*head, *rows, *below]
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    return Group(*lines)


def plain_view(report: EventReport, width: int | None = None) -> str:
    """The standings as lines of text, for whoever looks when it is over, or from elsewhere.

    ``width`` is that of the terminal; None, for pipes, leaves nothing out.
    """
    why = "" if report.stored.why in OBVIOUS else f": {report.stored.why}"
    above = [f"{report.event.name}: {STATES[report.state]}{why}", *_clauses(terms(report.event), width)]
    above += [progress(report.progress)] if width is None else wrap(progress(report.progress), width)
    return "\n".join([*above, "", *text_of(standings_columns(report, width))])


def _clauses(clauses: Sequence[str], width: int | None) -> list[str]:
    """Clauses in lines that are broken between them."""
    lines: list[str] = []
    for clause in clauses:
        longer = f"{lines[-1]} · {clause}" if lines else clause
        if lines and (width is None or cell_len(longer) <= width):
            lines[-1] = longer
        else:
            lines.append(clause)
    return lines


def _bar(report: EventReport, width: int) -> Text:
    done = round(width * report.progress.share)
    return Text.assemble(("━" * done, "green"), ("━" * (width - done), "bright_black"))


def _rows(table: Table, room: int | None) -> list[Text]:
    """The lines of the best bots that have room, and how many more there are."""
    lines = [[_line(line) for line in row] for row in table.rows]
    if room is None or sum(map(len, lines)) <= room:
        return [line for row in lines for line in row]
    shown: list[Text] = []
    for done, row in enumerate(lines):
        if len(shown) + len(row) > room - 1:
            return [*shown, Text(f"and {len(lines) - done} more", style="dim")]
        shown += row
    return shown


def _line(cells: Sequence[Cell]) -> Text:
    styles = {"plain": "", "failure": "yellow", "none": "dim"}
    return Text(GAP).join([Text(cell.text, style=styles[cell.kind]) for cell in cells])


def _state(live: Live) -> str:
    state = STATES[live.report.state]
    return f"{state}; what runs is broken off" if live.report.state == "cancelled" and live.running else state


def _running(games: Sequence[RunningGame], width: int) -> Iterator[Text]:
    shown = games if len(games) <= MOST_RUNNING else games[: MOST_RUNNING - 1]
    for game in shown:
        start, end = f"{game.id:>8}  ", f"  {game.state}, {seconds(game.seconds)}"
        red, blue = _fitting(game.red, game.blue, width - cell_len(start) - cell_len(end) - len(" v "))
        yield Text.assemble((start, "dim"), (red, "red"), " v ", (blue, "blue"), (end, "dim"))
    if len(shown) < len(games):
        yield Text(f"          and {len(games) - len(shown)} more games", style="dim")


def _fitting(red: str, blue: str, room: int) -> tuple[str, str]:
    """Both names in so many cells: where they are too long, the longer one gives way first."""
    room = max(room, 2 * NARROWEST_NAME)
    half = room // 2
    return _clipped(red, max(half, room - cell_len(blue))), _clipped(blue, max(half, room - cell_len(red)))


def _clipped(name: str, cells: int) -> str:
    if cell_len(name) <= cells:
        return name
    return set_cell_size(name, cells - 1).rstrip() + "…"


def _results(report: EventReport, width: int) -> Iterator[Text]:
    """The last ones, the newest first."""
    for played in report.latest:
        yield Text(_result(played, width), style="dim")


def _result(played: Played, width: int) -> str:
    fixture = played.fixture
    points, why = score(played), reason(played)
    red, blue = _fitting(fixture.red, fixture.blue, width - cell_len(f"{fixture.id}:  {points} , {why}"))
    return f"{fixture.id}: {red} {points} {blue}, {why}"


def _shortened(sentences: Sequence[str], most: int) -> list[str]:
    if len(sentences) <= most:
        return list(sentences)
    return [*sentences[: most - 1], f"and {len(sentences) - most + 1} more wait"]
