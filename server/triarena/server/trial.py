"""A few places beyond the bounds, for who proves to be an administrator: a full server can still be administered."""

from __future__ import annotations

from collections.abc import Callable

import trio

from triarena.protocol import from_client as c
from triarena.protocol.from_client import FromClient
from triarena.protocol.from_server import Error
from triarena.protocol.session import Fault

from .connection import Connection
from .guest import Guest
from .refusal import Refusal


class Trial:
    """The handler of a connection beyond the bounds: it may greet and authenticate, and nothing else before."""

    def __init__(self, connection: Connection, guest: Guest, doubt: Refusal, proven: Callable[[], None]) -> None:
        """``doubt`` is why nobody else would have been let in; ``proven`` is called once an administrator is there."""
        self._connection = connection
        self._guest = guest
        self._doubt = doubt
        self._proven = proven

    async def run(self, seconds: float) -> None:
        """Serve the connection; it has so many seconds to prove itself."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._expire, seconds)
            await self._connection.run(self)
            nursery.cancel_scope.cancel()

    async def _expire(self, seconds: float) -> None:
        await trio.sleep(seconds)
        if not self._guest.admin:
            self._dismiss()

    def _dismiss(self) -> None:
        self._connection.close(self._doubt.code, self._doubt.message)

    def heard(self, message: FromClient, at: float) -> None:
        """See ``Handler``."""
        if not (self._guest.admin or isinstance(message, c.Hello | c.Authenticate)):
            self._dismiss()
            return
        before = self._guest.admin
        self._guest.heard(message, at)
        if self._guest.admin and not before:
            self._proven()

    def misread(self, answer: Error) -> None:
        """See ``Handler``."""
        self._guest.misread(answer)

    def violated(self, fault: Fault) -> None:
        """See ``Handler``."""
        self._guest.violated(fault)

    def gone(self) -> None:
        """See ``Handler``."""
        self._guest.gone()
