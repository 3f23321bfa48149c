"""Percentiles and lines of figures."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from speed.timing import Effort, seconds

from .files import put

MEANINGLESS: Final = "a short run, whose figures mean nothing"
TABLE: Final = tuple(range(256))
STEPS: Final = 50_000
STEPS_PER_SECOND: Final = 22e6
"""Of ``_steps``, on the machine for which the bars are meant."""


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that ``share`` (0 to 1) of all do not exceed; 0 of nothing."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def spread(values: Sequence[float], unit: str = "ms") -> str:
    """Median, p99, p99.9 and extremes on one line."""
    cuts = {"median": 0.5, "p99": 0.99, "p99.9": 0.999}
    parts = [f"{name} {percentile(values, share):.2f}" for name, share in cuts.items()]
    return f"min {min(values, default=0):.2f}, {', '.join(parts)}, max {max(values, default=0):.2f} {unit}"


def quickness() -> float:
    """How fast plain Python is here at the moment, beside the machine for which the bars are meant: there it is 1."""
    return STEPS / seconds(partial(_steps, STEPS), Effort(rounds=5, seconds=0.02, games=0)) / STEPS_PER_SECOND


def _steps(count: int) -> int:
    total = 0
    for step in range(count):
        total = (total + TABLE[step & 255]) & 0xFFFF
    return total


def machine(*, short: bool = False) -> str:
    """Where a figure was measured, how fast and how busy it is there; of a ``short`` run, that it means nothing."""
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    where = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    python = f"Python {platform.python_version()} at {quickness():.0%} of the usual speed"
    return f"{where}, {python}, load average {load}" + (f"; {MEANINGLESS}" if short else "")


def leave(figures: Any, file: Path | None) -> None:
    """Write them to a file, if one is asked for. Raises Broken."""
    if file is not None:
        put(file, json.dumps(figures, indent=1))
