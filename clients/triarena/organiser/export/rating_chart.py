"""The ratings with their intervals as a picture: a line per bot, the best on top; drawn for screens and for phones."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import Final

from triarena.organiser.report import EventReport, Line
from triarena.organiser.wording import rating, signed
from triarena.tournament.ratings import Estimate

from .markup import Markup, join, tag

STEPS: Final = (10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000)
"""Between two ticks."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """Where things stand in a picture; lengths in its own units, which are pixels if it is not scaled."""

    kind: str
    """Which the style sheet shows where it fits."""
    width: int
    left: int
    """Of the axis."""
    right: int
    line: int
    """The height of a bot's line."""
    most_ticks: int
    longest_name: int
    """Letters; longer ones are shortened, and whole in the tooltip."""
    above: bool
    """Whether name and rating stand above the interval, not at its sides."""


WIDE: Final = Drawing("wide", 860, 190, 120, 26, 8, 22, above=False)
NARROW: Final = Drawing("narrow", 320, 20, 20, 42, 4, 24, above=True)
TOP: Final = 14


def rating_chart(report: EventReport) -> Markup | None:
    """Both drawings as SVG; None as long as nobody has a rating."""
    rated = sorted(
        ((line, line.telling) for line in report.lines if line.telling is not None), key=lambda each: -each[1].elo
    )
    if not rated:
        return None
    return join(*(_drawn(drawing, rated, report.event.name) for drawing in (WIDE, NARROW)))


def _drawn(drawing: Drawing, rated: list[tuple[Line, Estimate]], event: str) -> Markup:
    low, high = min(r.low for _, r in rated), max(r.high for _, r in rated)
    step = next((each for each in STEPS if (high - low) / each <= drawing.most_ticks), STEPS[-1])
    first, last = floor(low / step), ceil(high / step)
    last = max(last, first + 1)
    length = drawing.width - drawing.left - drawing.right

    def x(value: float) -> float:
        return round(drawing.left + (value / step - first) / (last - first) * length, 1)

    bottom = TOP + drawing.line * len(rated)
    grid = [
        join(
            tag("line", class_="zero" if t == 0 else "grid", x1=x(t), x2=x(t), y1=TOP, y2=bottom),
            tag("text", signed(t), class_="tick", x=x(t), y=bottom + 18, text_anchor="middle"),
        )
        for t in (step * each for each in range(first, last + 1))
    ]
    bots = []
    for place, (line, found) in enumerate(rated):
        top = TOP + drawing.line * place
        y = top + (drawing.line - 10 if drawing.above else drawing.line / 2)
        bots.append(
            tag(
                "g",
                tag("title", f"{line.player}: {signed(found.low)} to {signed(found.high)}"),
                _labels(drawing, line, top + 17 if drawing.above else y),
                tag("line", class_="interval", x1=x(found.low), x2=x(found.high), y1=y, y2=y),
                tag("circle", class_="rating", cx=x(found.elo), cy=y, r=5),
            )
        )
    return tag(
        "svg", grid, bots,
        class_=drawing.kind, viewBox=f"0 0 {drawing.width} {bottom + 26}", role="img",
        aria_label=f"Ratings of {event} with 95 % intervals",
    )  # fmt: skip


def _labels(drawing: Drawing, line: Line, y: float) -> Markup:
    """A bot's name and rating."""
    name = line.player
    if len(name) > drawing.longest_name:
        name = name[: drawing.longest_name - 1] + "…"
    if drawing.above:
        return join(
            tag("text", name, class_="name", x=2, y=y),
            tag("text", rating(line), class_="tick", x=drawing.width - 2, y=y, text_anchor="end"),
        )
    return join(
        tag("text", name, class_="name", x=drawing.left - 12, y=y + 5, text_anchor="end"),
        tag("text", rating(line), class_="tick", x=drawing.width - drawing.right + 14, y=y + 4),
    )
