"""When Python's collector may look for garbage: not while matches run.

It finds what refers to itself in a circle and goes by no other way. A match makes no such thing, and no connection does
(the tests see to that); so nothing urgent is ever found. But to look costs a pause: a hundred matches under way are
tens of thousands of objects, all of them in use, and a look at those takes 5 to 20 ms in which nobody is served. So
what there is is put out of the collector's sight every second, which costs nothing, and all of it is looked at when no
match is running, or after a long while.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

import trio

HIDE_SECONDS = 1.0
YOUNG = 100_000
"""How many more objects there may be within that time before they are looked at all the same: more than the busiest
server comes to, so that they are circles.
"""
COLLECT_SECONDS = 600.0
"""After how long without an idle moment all is looked at (it is charged to nobody, see ``lag``)."""


async def collect_when_idle(running: Callable[[], int]) -> None:
    """Runs until it is cancelled. ``running``: how many matches are."""
    gc.set_threshold(YOUNG, 1_000_000, 1_000_000)
    collect()
    collected, was_busy = trio.current_time(), False
    while True:
        await trio.sleep(HIDE_SECONDS)
        busy = running() > 0
        was_busy = was_busy or busy
        if (was_busy and not busy) or trio.current_time() - collected > COLLECT_SECONDS:
            collect()
            collected, was_busy = trio.current_time(), busy
        else:
            gc.freeze()


def collect() -> None:
    """Look at everything, and keep what is left out of sight."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
