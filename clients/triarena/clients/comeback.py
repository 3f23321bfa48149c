"""Getting a lost connection back: reopen it, take up where it broke off, and try again if that fails.

What is lost for good is not sought: a seat that was taken over with its token (``displaced``), a client that was
thrown out, or one that the server cannot understand.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import inf
from typing import Final, TypeAlias, TypeVar

from .backoff import BACKOFF, Backoff
from .connection import Connection
from .errors import CannotConnect, ClientError, ConnectionLost, Farewell, NoAnswer, ServerError

T = TypeVar("T")
Reporter: TypeAlias = Callable[[str], None]

PASSING: Final = frozenset(
    [
        "address_full",
        "greeting_timeout",
        "internal_error",
        "server_busy",
        "server_full",
        "server_stopping",
        "stalled",
        "throttled",
    ]
)
"""Codes of a server that may have time, room, or a new process for us a little later."""
SETTLED_SECONDS: Final = 10.0
"""A connection that stood so long after coming back is not lost again, but lost anew."""


def to_stderr(line: str) -> None:
    """Where reports about bot and connection go unless somebody else takes them."""
    print(line, file=sys.stderr, flush=True)


class Comeback:
    """Brings one connection back, as often as it is lost."""

    def __init__(self, connection: Connection, backoff: Backoff = BACKOFF, report: Reporter = to_stderr) -> None:
        self._connection = connection
        self._backoff = backoff
        self._report = report
        self._pauses = backoff.pauses()
        self._deadline = 0.0
        self._back_at = -inf

    def progressed(self) -> None:
        """Something has come of being back: if the connection is lost now, patience begins anew.

        Otherwise a connection that breaks whenever it is taken up would be taken up for ever.
        """
        self._back_at = -inf

    def after(
        self,
        lost: ConnectionLost | Farewell,
        resume: Callable[[], T],
        where: str = "",
        also: frozenset[str] = PASSING,
        *,
        refused: bool = False,
    ) -> T:
        """What ``resume`` returns over the connection once it stands again; ``where`` that is, for the report.

        ``refused``: nothing is lost yet that a farewell could have ended, the server only has no room for us.

        An attempt is repeated if it fails without an answer or with a code of ``also``; else its error is raised.
        Raises ``lost`` if that is for good or nobody has patience, and ConnectionLost when patience has run out.
        """
        if not _worth_coming_back(lost) or self._backoff.patience <= 0:
            raise lost
        since = self._begin()
        refused = refused and isinstance(lost, Farewell)
        if refused:
            self._report(f"no way in: {lost.message} [{lost.code}]; trying again ...")
        else:
            self._report(f"connection lost: {lost.message} [{lost.code}]; trying to come back ...")
        last: ClientError = lost
        while (left := self._deadline - self._backoff.now()) > 0:
            if pause := next(self._pauses):
                self._backoff.sleep(min(pause, left))
            try:
                result = self._attempt(resume)
            except ClientError as error:
                if not _worth_another_attempt(error, also):
                    raise
                last = error
            else:
                self._back_at = self._backoff.now()
                what = "let in" if refused else f"back{where and ' ' + where}"
                self._report(f"{what} after {self._back_at - since:.1f} s")
                return result
        in_vain = f"no way back was found within {self._backoff.patience:g} s"
        raise ConnectionLost(
            lost.code, f"{lost.message}; {in_vain}" + (f": {last.message}" if last is not lost else "")
        )

    def _begin(self) -> float:
        """The time of the loss; patience and pauses start anew unless it is but a relapse."""
        now = self._backoff.now()
        if now - self._back_at > SETTLED_SECONDS:
            self._pauses = self._backoff.pauses()
            self._deadline = now + self._backoff.patience
        return now

    def _attempt(self, resume: Callable[[], T]) -> T:
        connection, usual = self._connection, self._connection.timeout
        connection.timeout = min(usual, max(0.1, self._deadline - self._backoff.now()))
        try:
            connection.reopen()
            return resume()
        finally:
            connection.timeout = usual


def _worth_coming_back(lost: ConnectionLost | Farewell) -> bool:
    return isinstance(lost, ConnectionLost) or lost.code in PASSING


def _worth_another_attempt(error: ClientError, also: frozenset[str]) -> bool:
    if isinstance(error, ServerError):
        return error.code in PASSING or error.code in also
    return isinstance(error, CannotConnect | ConnectionLost | NoAnswer)
