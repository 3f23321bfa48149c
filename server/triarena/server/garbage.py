"""When Python's collector may look for garbage: not while matches run.

It finds what refers to itself in a circle and goes by no other way. A match makes no such thing, and no connection does
(the tests see to that); so nothing urgent is ever found. But a look costs a pause: a hundred matches under way are tens
of thousands of objects, all of them in use, and a look at those takes 5 to 25 ms in which nobody is served. So while
matches run, what there is is put out of the collector's sight every second, which costs nothing. All of it is looked at
in an idle moment, or when there is too much of it, or after a long while.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

import trio

PAUSE_SECONDS = 1.0
"""Between two moments at which something is put out of sight, or an idle server looks at what is in sight."""
COUNT_EVERY = 60
"""In so many of these moments what is out of sight is counted once, which takes up to 20 ms; more often if an estimate
says that there may be too much.
"""
YOUNG = 100_000
"""How many more objects there may be within a pause before they are looked at all the same: more than the busiest
server comes to, so that they are circles.
"""
MUCH = 500_000
"""How many may have been put out of sight since the latest look at everything: what they take is bounded by this."""
LITTLE = 20_000
"""So many are not worth a look in an idle moment: it takes 50 ms or more, since it is also at what the imports made."""
COLLECT_SECONDS = 600.0
"""After how long everything is looked at in any case (it is charged to nobody, see ``lag``)."""


async def collect_when_idle(running: Callable[[], int]) -> None:
    """Runs until it is cancelled. ``running``: how many matches are."""
    gc.set_threshold(YOUNG, 1_000_000, 1_000_000)
    looked, kept, hidden, moments = trio.current_time(), collect(), 0, 0
    while True:
        await trio.sleep(PAUSE_SECONDS)
        moments += 1
        if busy := running() > 0:
            young, looks, _ = gc.get_count()
            hidden += young + looks * YOUNG  # roughly: not without what has gone since
            gc.freeze()
        else:
            gc.collect()
        bound = MUCH if busy else LITTLE
        if hidden > bound or moments % COUNT_EVERY == 0:
            count = gc.get_freeze_count()
            kept = min(kept, count)  # of what was in use at the latest look much may have gone
            hidden = count - kept
        if hidden > bound or trio.current_time() - looked > COLLECT_SECONDS:
            looked, kept, hidden = trio.current_time(), collect(), 0


def collect() -> int:
    """Look at everything, and put what is left out of sight: how many objects."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    return gc.get_freeze_count()
