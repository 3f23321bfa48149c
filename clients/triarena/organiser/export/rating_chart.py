"""The ratings with their intervals as a picture: one line per bot, the best on top."""

from __future__ import annotations

from math import ceil, floor

from triarena.organiser.report import EventReport
from triarena.organiser.wording import rating, signed

from .markup import Markup, join, tag

WIDTH, LEFT, RIGHT, LINE, TOP = 860, 190, 120, 26, 14
STEPS = (10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000)
"""Between two ticks."""
MOST_TICKS = 8
LONGEST_NAME = 22


def rating_chart(report: EventReport) -> Markup | None:
    """An SVG; None as long as nobody has a rating."""
    rated = sorted(
        ((line, line.telling) for line in report.lines if line.telling is not None), key=lambda each: -each[1].elo
    )
    if not rated:
        return None
    low, high = min(r.low for _, r in rated), max(r.high for _, r in rated)
    step = next((each for each in STEPS if (high - low) / each <= MOST_TICKS), STEPS[-1])
    first, last = floor(low / step), ceil(high / step)
    last = max(last, first + 1)

    def x(value: float) -> float:
        return round(LEFT + (value / step - first) / (last - first) * (WIDTH - LEFT - RIGHT), 1)

    bottom = TOP + LINE * len(rated)
    ticks = [step * each for each in range(first, last + 1)]
    grid = [
        join(
            tag("line", class_="zero" if t == 0 else "grid", x1=x(t), x2=x(t), y1=TOP, y2=bottom),
            tag("text", signed(t), class_="tick", x=x(t), y=bottom + 18, text_anchor="middle"),
        )
        for t in ticks
    ]
    bots = []
    for place, (line, found) in enumerate(rated):
        y = TOP + LINE * place + LINE / 2
        name = line.player if len(line.player) <= LONGEST_NAME else line.player[: LONGEST_NAME - 1] + "…"
        bots.append(
            tag(
                "g",
                tag("title", f"{line.player}: {signed(found.low)} to {signed(found.high)}"),
                tag("text", name, x=LEFT - 12, y=y + 5, text_anchor="end"),
                tag("line", class_="interval", x1=x(found.low), x2=x(found.high), y1=y, y2=y),
                tag("circle", class_="rating", cx=x(found.elo), cy=y, r=5),
                tag("text", rating(line), class_="tick", x=WIDTH - RIGHT + 14, y=y + 4),
            )
        )
    label = f"Ratings of {report.event.name} with 95 % intervals"
    return tag("svg", grid, bots, viewBox=f"0 0 {WIDTH} {bottom + 26}", role="img", aria_label=label)
