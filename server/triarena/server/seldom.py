"""What may happen very often is told the log once in a while, with a count."""

from __future__ import annotations

from collections import Counter, OrderedDict

import trio

SECONDS = 5.0
KINDS = 100
"""How many kinds are counted at a time; the oldest is forgotten for a new one."""


class Seldom:
    """Lets one of each kind through in ``SECONDS``, with how many there were since the last."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._next: OrderedDict[str, float] = OrderedDict()

    def __call__(self, kind: str = "") -> int:
        """One has happened: how many to tell of now; 0: say nothing."""
        self._counts[kind] += 1
        now = trio.current_time()
        if now < self._next.get(kind, now):
            return 0
        self._next[kind] = now + SECONDS
        while len(self._next) > KINDS:
            forgotten, _ = self._next.popitem(last=False)
            self._counts.pop(forgotten, None)
        return self._counts.pop(kind)
