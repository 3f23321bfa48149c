"""Waiting until something has changed: whoever waits is woken, and looks again."""

from __future__ import annotations

from collections.abc import Callable

import trio


class Bell:
    """Rung whenever something has changed. What has changed is for the sleepers to see."""

    def __init__(self) -> None:
        self._event = trio.Event()

    def ring(self) -> None:
        """Wake everybody who waits."""
        self._event.set()
        self._event = trio.Event()

    async def until(self, condition: Callable[[], bool], deadline: float | None = None) -> bool:
        """Wait until the condition holds, or the deadline (in trio's time) has passed; whether it holds."""
        while not condition():
            if deadline is not None and trio.current_time() >= deadline:
                return False
            with trio.CancelScope() as scope:
                if deadline is not None:
                    scope.deadline = deadline
                await self._event.wait()
        return True

    async def rung(self, seconds: float) -> None:
        """Wait until it is rung, at most for so long."""
        with trio.move_on_after(seconds):
            await self._event.wait()
