"""Looking after a match while its bot thinks: one that thinks for ever never hears that the match is over.

The client library has no threads, and needs none: here a thread reads in its place, but only once the bot is past its
time, and only while it is still inside its own functions. Before that, a turn costs no more than two assignments.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from triarena.clients.bots import Bot
    from triarena.clients.connection import Connection
    from triarena.protocol.from_server import MatchOver

POLL_SECONDS: Final = 0.5
GRACE_SECONDS: Final = 2.0
"""How long a bot may go on after the end of its match: it may merely be late, and see for itself."""


class Watchdog:
    """Calls ``abandon`` with the end of the match, and what the bot was doing, when the bot does not come back."""

    def __init__(
        self,
        connection: Connection,
        abandon: Callable[[MatchOver, str], object],
        *,
        poll: float = POLL_SECONDS,
        grace: float = GRACE_SECONDS,
    ) -> None:
        self._connection = connection
        self._abandon = abandon
        self._poll, self._grace = poll, grace
        self._lock = threading.Lock()  # of the connection, while the thread reads
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
        self._watched = threading.get_ident()
        self._deadline: float | None = None
        self._what = ""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()

    def watched(self, bot: Bot) -> Bot:
        """The bot, looked after; a seat without a clock is not, since somebody may be debugging there."""
        from triarena.clients.bots import Bot

        def choose_move(position: Any, clock: Any) -> Any:
            with self._watching("choose_move", clock.remaining_ms):
                return bot.choose_move(position, clock)

        def get_ready(match: Any) -> object:
            with self._watching("get_ready", match.startup_ms):
                return bot.get_ready(match) if bot.get_ready is not None else None

        return Bot(choose_move, get_ready if bot.get_ready is not None else None, bot.come_back)

    @contextmanager
    def _watching(self, what: str, limit_ms: float | None) -> Iterator[None]:
        self._what = what
        self._deadline = None if limit_ms is None else time.monotonic() + limit_ms / 1000
        try:
            yield
        finally:
            with self._lock:
                self._deadline = None

    def _run(self) -> None:
        since: float | None = None
        while not self._closed.wait(self._poll):
            with self._lock:
                over = self._end_of_match()
                if over is None:
                    since = None
                elif since is None:
                    since = time.monotonic()
                elif time.monotonic() - since >= self._grace:
                    self._abandon(over, f"{self._what} has not returned{self._where()}")
                    return

    def _end_of_match(self) -> MatchOver | None:
        """The end that the bot has not heard of; None if it is in time, or the match goes on."""
        from triarena.clients.errors import ClientError
        from triarena.protocol.from_server import MatchOver

        if self._deadline is None or time.monotonic() < self._deadline:
            return None
        with suppress(ClientError):  # that the connection is lost must be said by whoever receives
            self._connection.listen(0.01)
        return next((message for message in self._connection.waiting if isinstance(message, MatchOver)), None)

    def _where(self) -> str:
        """The line of the bot at which it is: the last one that is not ours."""
        from triarena.clients.bots.bot import is_machinery

        frames = traceback.extract_stack(sys._current_frames().get(self._watched))
        own = [frame for frame in frames if not is_machinery(frame.filename)]
        return f" (it is in {Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
