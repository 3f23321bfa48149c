"""Draws how costs grow: ``docs/cost-by-matches.svg`` and ``docs/cost-by-board.svg``.

``performance.py`` does so; by hand, from the figures that ``rules.py --json`` and ``referee.py --json`` leave (of the
latter there may be several, with other numbers of matches):

    uv run python benchmarks/curves.py rules.json referee.json growth.json docs

It takes no time. Those of a short run are refused, since they mean nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from fleet.arguments import new_folder, old_file, reader
from fleet.figures import MEANINGLESS
from fleet.files import put
from fleet.verdict import ended
from speed.bars import UNJUDGED

Points: TypeAlias = Sequence[tuple[float, float]]

WIDTH, HEIGHT, MARGIN = 640, 400, 64
COLOURS: Final = ("#1b6ca8", "#c2571a", "#3a7d34")
TICKS: Final = 5
"""So many at most, besides 0."""
CURVES: Final = ("cost-by-board.svg", "cost-by-matches.svg")
"""What is left."""
NOTE: Final = f'<text x="{WIDTH / 2}" y="42" text-anchor="middle" fill="#b00">{MEANINGLESS}</text>'


def ticks(highest: float) -> list[float]:
    """From 0 to the first that is not below the highest value, in steps of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(highest / TICKS))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if math.ceil(highest / step) <= TICKS)
    return [step * number for number in range(math.ceil(highest / step) + 1)]


def chart(title: str, across: str, up: str, series: Mapping[str, Points]) -> str:
    """An SVG of lines through points, with a dashed straight line from the origin to the last point of each."""
    rightwards = ticks(max(x for points in series.values() for x, _ in points))
    upwards = ticks(max(y for points in series.values() for _, y in points))

    def place(x: float, y: float) -> tuple[float, float]:
        right, high = x / rightwards[-1], y / upwards[-1]
        return MARGIN + right * (WIDTH - 2 * MARGIN), HEIGHT - MARGIN - high * (HEIGHT - 2 * MARGIN)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"'
        ' font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{WIDTH / 2}" y="24" text-anchor="middle" font-size="15">{title}</text>',
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 16}" text-anchor="middle">{across}</text>',
        f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">{up}</text>',
    ]
    for tick in upwards:
        _, y = place(0, tick)
        parts += [
            f'<line x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>',
            f'<text x="{MARGIN - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:.6g}</text>',
        ]
    for tick in rightwards:
        x, _ = place(tick, 0)
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - MARGIN + 18}" text-anchor="middle">{tick:.6g}</text>')
    for number, (name, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [place(*point) for point in points]
        (zero_x, zero_y), (last_x, last_y) = place(0, 0), places[-1]
        parts += [
            f'<line x1="{zero_x:.1f}" y1="{zero_y:.1f}" x2="{last_x:.1f}" y2="{last_y:.1f}" stroke="{colour}"'
            ' stroke-dasharray="3 5" opacity="0.6"/>',
            f'<polyline fill="none" stroke="{colour}" stroke-width="2"'
            f' points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>',
            *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places),
            f'<text x="{MARGIN + 160 * number}" y="{MARGIN - 6}" fill="{colour}">{name}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def by_matches(referee: Sequence[Mapping[str, Any]]) -> str:
    """Processor time of one ply in every match, by how many matches are played at once."""
    series: dict[str, list[tuple[float, float]]] = {}
    for one in referee:
        series.setdefault(one["game"], []).append((one["matches"], one["matches"] * one["cpu_ms"]))
    title = "Processor time of the server for one ply in every match"
    return chart(title, "matches at once", "milliseconds", {name: sorted(points) for name, points in series.items()})


def by_board(boards: Mapping[str, Mapping[str, float]]) -> str:
    """What rules cost the referee per ply, by how many fields the board has."""
    series: dict[str, list[tuple[float, float]]] = {"towerwars": [], "flowerwars": []}
    for board, figures in boards.items():
        name, size = board.split()
        if name in series:  # both have n x n fields; the other game has but one board
            series[name].append((int(size) ** 2, figures["play"] + figures["write"]))
    title = "Processor time of the rules for one ply: check, play, write the position"
    across = "fields of the board (of Mississippi Queen, which has only one board, there is no curve)"
    return chart(title, across, "microseconds", {name: sorted(points) for name, points in series.items()})


def draw(
    boards: Mapping[str, Mapping[str, float]],
    pace: Sequence[Mapping[str, Any]],
    folder: Path,
    *,
    short: bool = False,
) -> None:
    """Leave both curves in the folder; those of a ``short`` run say so."""
    for name, curve in zip(CURVES, (by_board(boards), by_matches(pace)), strict=True):
        put(folder / name, curve.replace("</svg>", f"{NOTE}\n</svg>") if short else curve)


def figures(path: Path, script: str, key: str, curve: Callable[[Any], str]) -> Any:
    """What a benchmark left under this key, for this curve. Raises ValueError with a sentence if it can't be drawn, or
    means nothing.
    """
    try:
        left = json.loads(path.read_text("utf-8"))
        curve(left[key])
        short = left.get("short") or UNJUDGED in [bar["verdict"] for bar in left["bars"]]
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        raise ValueError(f"{path} does not hold what {script} --json leaves: name a file of such figures") from None
    if short:
        raise ValueError(f"{path} is of {MEANINGLESS}: measure without --short, or name other figures")
    return left[key]


def main() -> None:
    """Draw both."""
    parser = reader(__doc__)
    parser.add_argument("rules", type=old_file, help="a file that rules.py --json has left")
    parser.add_argument("referee", type=old_file, nargs="+", help="files that referee.py --json has left")
    parser.add_argument("folder", type=new_folder, help=f"where {' and '.join(CURVES)} go")
    options = parser.parse_args()
    try:
        boards = figures(options.rules, "rules.py", "boards", by_board)
        pace = [figures(path, "referee.py", "pace", by_matches) for path in options.referee]
    except ValueError as error:
        parser.error(str(error))
    options.folder.mkdir(parents=True, exist_ok=True)
    draw(boards, [one for some in pace for one in some], options.folder)


if __name__ == "__main__":
    ended(main)
