"""CPU time of a piece of work: only what this process computes counts, and of several rounds the least disturbed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Work: TypeAlias = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure."""

    rounds: int
    seconds: float
    """Of one round, at least."""
    games: int
    """How many random games are looked at, per game and size."""
    share: int = 1
    """Of the golden positions, every so manieth is looked at."""


FULL = Effort(rounds=5, seconds=0.2, games=8)
SHORT = Effort(rounds=1, seconds=0.0, games=1, share=50)
"""Proves that everything runs; its figures mean nothing."""


def seconds(work: Work, effort: Effort) -> float:
    """CPU seconds of one call."""
    calls, took = 1, _once(work, 1)
    while took < effort.seconds:
        calls = max(2 * calls, int(1.2 * calls * effort.seconds / max(took, 1e-6)))
        took = _once(work, calls)
    return min([took, *(_once(work, calls) for _ in range(effort.rounds - 1))]) / calls


def median_and_worst(works: Sequence[Work], rounds: int) -> tuple[float, float]:
    """CPU seconds of one call of the median and of the slowest piece of work; each is as fast as its best round."""
    calls = 20
    each = sorted(min(_once(work, calls) for _ in range(rounds)) / calls for work in works)
    return each[len(each) // 2], each[-1]


def _once(work: Work, calls: int) -> float:
    began = time.process_time()
    for _ in range(calls):
        work()
    return time.process_time() - began
