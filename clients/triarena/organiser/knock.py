"""Knocking at a running server's door before anything is begun there: does it let us in, and are our names free?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import trio

from triarena.protocol import from_client as c

from .desk import DeskLost, open_desk
from .link import Access, enrol

PATIENCE_SECONDS: Final = 5.0
"""For a server that is just being started."""
PAUSE_SECONDS: Final = 0.5


async def knock(access: Access, players: Sequence[c.Enrolment] = (), patience: float = PATIENCE_SECONDS) -> None:
    """Become the administrator of a server, enrol our players, and go again: they stay enrolled until we are back.

    Raises DeskLost if there is none after ``patience`` seconds, DeskRefused if it does not let us in, or one of the
    names belongs to somebody else there (``name_taken``).
    """
    deadline = trio.current_time() + patience
    while True:
        try:
            async with open_desk(access.host, access.port, access.secret, lambda news: None, tls=access.tls) as desk:
                await enrol(desk, players)
                return
        except DeskLost:
            if trio.current_time() >= deadline:
                raise
        await trio.sleep(PAUSE_SECONDS)
