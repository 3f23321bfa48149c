"""Waiting until something has changed: whoever waits is woken, and looks again. Its clock stands still while we do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import trio

LOOK_SECONDS: Final = 0.5
"""How often it is looked whether this program runs."""
LATE_SECONDS: Final = 1.0
"""Who wakes so much too late was stopped."""
READING_SECONDS: Final = 1.0
"""For what came in the meantime, to be read before anybody is judged by the clock."""
INSTANT: Final = 1e-6


class Bell:
    """Rung whenever something has changed. What has changed is for the sleepers to see.

    Deadlines are in the time of ``now``: a program that is stopped (Ctrl-Z, a suspended machine) would find all of them
    passed when it goes on, and nobody to blame for it.
    """

    def __init__(self) -> None:
        self._event = trio.Event()
        self._awake: float | None = None
        """When this program certainly ran; None while ``watch`` does not run."""
        self._slept = 0.0

    def now(self) -> float:
        """Trio's time, less the time in which this program did not run, if that is watched."""
        moment = trio.current_time()
        if self._awake is not None:
            if moment > self._awake + LOOK_SECONDS + LATE_SECONDS:
                self._slept += moment - self._awake + READING_SECONDS
            self._awake = moment
        return moment - self._slept

    async def watch(self) -> None:
        """Notice when this program does not run, until cancelled."""
        self._awake = trio.current_time()
        try:
            while True:
                await trio.sleep(LOOK_SECONDS)
                self.now()
        finally:
            self._awake = None

    def ring(self) -> None:
        """Wake everybody who waits."""
        self._event.set()
        self._event = trio.Event()

    async def until(self, condition: Callable[[], bool], deadline: float | None = None) -> bool:
        """Wait until the condition holds, or the deadline (in the time of ``now``) has passed; whether it holds."""
        while not condition():
            with trio.CancelScope() as scope:
                if deadline is not None:
                    left = deadline - self.now()
                    if left < INSTANT:
                        return False
                    scope.deadline = trio.current_time() + left
                await self._event.wait()
        return True

    async def rung(self, seconds: float) -> None:
        """Wait until it is rung, at most for so long."""
        with trio.move_on_after(seconds):
            await self._event.wait()
