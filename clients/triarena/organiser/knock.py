"""Knocking at a running server's door before anything is begun there: is it there, and does it let us in?"""

from __future__ import annotations

from typing import Final

import trio

from .desk import DeskLost, open_desk
from .link import Access

PATIENCE_SECONDS: Final = 5.0
"""For a server that is just being started."""
PAUSE_SECONDS: Final = 0.5


async def knock(access: Access, patience: float = PATIENCE_SECONDS) -> None:
    """Become the administrator of a server, and go again.

    Raises DeskLost if there is none after ``patience`` seconds, DeskRefused if it does not let us in.
    """
    deadline = trio.current_time() + patience
    while True:
        try:
            async with open_desk(access.host, access.port, access.secret, lambda news: None, tls=access.tls):
                return
        except DeskLost:
            if trio.current_time() >= deadline:
                raise
        await trio.sleep(PAUSE_SECONDS)
