"""When to try again: pauses that grow, each a little different, until patience has run out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Final


@dataclass(frozen=True, slots=True)
class Backoff:
    """How a lost connection is sought again: for how long, and how often. Times are in seconds."""

    patience: float = 600.0
    """For how long after a loss; 0 means not at all. As long as it may take somebody to start a server again, which
    then keeps the seat for ``rooms.resume_seconds``.
    """
    first_pause: float = 0.1
    """After the first attempt, which is made at once; each further pause is twice as long."""
    longest_pause: float = 2.0
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    random: Callable[[], float] = field(default_factory=lambda: Random().random)
    """A number from 0 to 1; of its own, since the module ``random`` is the bot's and may be seeded for it."""

    def pauses(self) -> Iterator[float]:
        """How long to wait before each attempt, without end.

        Every pause is shortened by up to a half, so that clients that lost the same server do not return in step.
        """
        yield 0.0
        pause = self.first_pause
        while True:
            yield pause * (1 - self.random() / 2)
            pause = min(2 * pause, self.longest_pause)


BACKOFF: Final = Backoff()
"""What everybody does who says nothing else."""
