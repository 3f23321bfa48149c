"""Whether all that a client has sent has been read: before that no verdict on its lateness is just."""

from __future__ import annotations

from collections.abc import Callable

import trio

HEARING_SECONDS = 1.0
"""How long a verdict may wait for what a client had sent before."""
LOOKS = 4
"""How often the loop looks for input before a reader that got none is believed to have had all; TLS takes some."""


class Hearing:
    """What a connection's reader tells of itself."""

    __slots__ = ("idle", "reads")

    def __init__(self) -> None:
        self.idle = False
        """It waits: for input, or since it may not read on."""
        self.reads = 0
        """How often it has read something."""

    async def out(self, over: Callable[[], bool]) -> None:
        """Return when all that has come has been read, or it is ``over``, or that takes too long; a client that is
        held back since it sends too much, or does not read, is not waited for.

        The reader may be behind by more than one read: what came during a stall is read in pieces.
        """
        with trio.move_on_after(HEARING_SECONDS):
            looks, reads = 0, self.reads
            while looks < LOOKS and not over():
                await trio.lowlevel.checkpoint()
                looks = looks + 1 if self.idle and self.reads == reads else 0
                reads = self.reads
