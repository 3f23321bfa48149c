"""The plies so far, packed once each, for whoever comes late; bounded in number and bytes."""

from __future__ import annotations

from collections import deque

import msgpack

from triarena.protocol.codec import pack_array

from .terms import Played

PLIES = 2000
BYTES = 768 * 1024
"""What fits into a frame beside everything else."""


class Recap:
    """The latest plies of a match."""

    def __init__(self) -> None:
        self._plies: deque[bytes] = deque()
        self._size = 0

    def add(self, played: Played) -> None:
        """A ply was played; the oldest ones go when there are too many."""
        packed = msgpack.packb(played.told())
        self._plies.append(packed)
        self._size += len(packed)
        while len(self._plies) > PLIES or self._size > BYTES:
            self._size -= len(self._plies.popleft())

    def packed(self) -> bytes:
        """The msgpack array of them."""
        return pack_array(list(self._plies))
