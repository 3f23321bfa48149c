"""Draws how costs grow: ``docs/cost-by-matches.svg`` and ``docs/cost-by-board.svg``.

``performance.py`` does so; by hand, from the figures that ``rules.py --json`` and ``referee.py --json`` leave:

    uv run python benchmarks/curves.py rules.json referee.json docs
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from fleet.arguments import new_folder, old_file, reader
from fleet.figures import MEANINGLESS
from fleet.verdict import ended

Points: TypeAlias = Sequence[tuple[float, float]]

WIDTH, HEIGHT, MARGIN = 640, 400, 64
COLOURS: Final = ("#1b6ca8", "#c2571a", "#3a7d34")
TICKS: Final = 5
CURVES: Final = ("cost-by-board.svg", "cost-by-matches.svg")
"""What is left."""


NOTE: Final = f'<text x="{WIDTH / 2}" y="42" text-anchor="middle" fill="#b00">{MEANINGLESS}</text>'


def chart(title: str, across: str, up: str, series: Mapping[str, Points]) -> str:
    """An SVG of lines through points, with a dashed straight line from the origin to the last point of each."""
    right = max(x for points in series.values() for x, _ in points)
    top = max(y for points in series.values() for _, y in points)

    def place(x: float, y: float) -> tuple[float, float]:
        return MARGIN + x / right * (WIDTH - 2 * MARGIN), HEIGHT - MARGIN - y / top * (HEIGHT - 2 * MARGIN)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"'
        ' font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{WIDTH / 2}" y="24" text-anchor="middle" font-size="15">{title}</text>',
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 16}" text-anchor="middle">{across}</text>',
        f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">{up}</text>',
    ]
    for tick in range(TICKS + 1):
        x, y = place(right * tick / TICKS, top * tick / TICKS)
        parts += [
            f'<line x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>',
            f'<text x="{MARGIN - 8}" y="{y + 4:.1f}" text-anchor="end">{top * tick / TICKS:.3g}</text>',
            f'<text x="{x:.1f}" y="{HEIGHT - MARGIN + 18}" text-anchor="middle">{right * tick / TICKS:.3g}</text>',
        ]
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
            f'<text x="{MARGIN + 12}" y="{MARGIN + 4 + 18 * number}" fill="{colour}">{name}</text>',
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
    return chart(
        title, "fields of the board", "microseconds", {name: sorted(points) for name, points in series.items()}
    )


def draw(
    boards: Mapping[str, Mapping[str, float]],
    pace: Sequence[Mapping[str, Any]],
    folder: Path,
    *,
    short: bool = False,
) -> None:
    """Leave both curves in the folder; those of a ``short`` run say so."""
    for name, curve in zip(CURVES, (by_board(boards), by_matches(pace)), strict=True):
        whole = curve.replace("</svg>", f"{NOTE}\n</svg>") if short else curve
        (folder / name).write_text(whole, encoding="utf-8")


def main() -> None:
    """Draw both."""
    parser = reader(__doc__)
    for name, kind in (("rules", old_file), ("referee", old_file), ("folder", new_folder)):
        parser.add_argument(name, type=kind)
    options = parser.parse_args()
    rules, referee = (json.loads(path.read_text(encoding="utf-8")) for path in (options.rules, options.referee))
    draw(rules["boards"], referee["pace"], options.folder)


if __name__ == "__main__":
    ended(main)
