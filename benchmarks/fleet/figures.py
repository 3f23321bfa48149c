"""Percentiles and lines of figures."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from .files import put

MEANINGLESS: Final = "a short run, whose figures mean nothing"


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


def machine(*, short: bool = False) -> str:
    """Where a figure was measured, and how busy it was there; of a ``short`` run, that it means nothing."""
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    where = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"
    return f"{where}, load average {load}" + (f"; {MEANINGLESS}" if short else "")


def leave(figures: Any, file: Path | None) -> None:
    """Write them to a file, if one is asked for. Raises Broken."""
    if file is not None:
        put(file, json.dumps(figures, indent=1))
