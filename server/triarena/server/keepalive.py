"""The system's own look after a connection: a peer that vanished without a word (its power cut, its cable pulled) is
noticed, also where nothing is said for hours and the protocol has no ping.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Final

import trio

PROBES: Final = 3
"""So many are sent, one after the other, before the peer is given up."""
LONGEST: Final = 32767
"""Seconds; Linux takes no more."""


def keep_alive(stream: trio.SocketStream, heartbeat: float, write: float) -> None:
    """Probe a peer that is silent for ``heartbeat`` seconds, and let the connection break when it is silent for as long
    again. What was sent to it may be unacknowledged for as long, and never less than the ``write`` seconds that a peer
    has which does not read: that is judged elsewhere. Linux waits so long for a silent peer, too, however many probes
    that takes.

    Where the system has only some of these options (the names differ, too), those are set that it has.
    """
    idle = min(max(1, round(heartbeat)), LONGEST)
    wanted = {
        "TCP_KEEPIDLE": idle,
        "TCP_KEEPALIVE": idle,  # what macOS calls it
        "TCP_KEEPINTVL": max(1, round(idle / PROBES)),
        "TCP_KEEPCNT": PROBES,
        "TCP_USER_TIMEOUT": round(1000 * 2 * max(idle, write)),
    }
    with suppress(OSError):
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, True)
    for name, value in wanted.items():
        if hasattr(socket, name):
            with suppress(OSError):  # it is gone already, or the system wants other values: served it is all the same
                stream.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
