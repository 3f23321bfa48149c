"""The silence of one client: until when it is borne, and what becomes of it then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from .handler import Patience
from .lag import STANDSTILL

Verdict: TypeAlias = Literal["bear", "ask", "never greeted", "gone"]


class Silence:
    """When a client was heard last. Moments are trio's."""

    __slots__ = ("_asked", "_greet_by", "_lag_since", "_patience", "since")  # thousands may be idle

    def __init__(self, patience: Patience, lag_since: Callable[[float], float], now: float) -> None:
        """``lag_since``: see ``lag``."""
        self._patience, self._lag_since = patience, lag_since
        self._greet_by = now + patience.greeting
        self._asked = False
        self.since = now
        """When it was heard last, or excused."""

    def broken(self, now: float) -> None:
        """The client was heard."""
        self.since, self._asked = now, False

    def until(self, *, greeted: bool) -> float:
        """When the silence will have been too long."""
        return self.since + self._patience.heartbeat if greeted else self._greet_by

    def verdict(self, now: float, *, greeted: bool, owes: bool) -> Verdict:
        """What to do at this moment; ``owes`` if the client thinks: its clock watches it, not we."""
        if now < self.until(greeted=greeted):
            return "bear"
        if self._lag_since(self.since) > STANDSTILL:
            self.since, self._greet_by = now, max(self._greet_by, now + STANDSTILL)  # we have not listened either
            return "bear" if owes or not greeted else "ask"
        if not greeted:
            return "never greeted"
        if owes:
            self.since = now
            return "bear"
        if not self._asked:
            self.since, self._asked = now, True
            return "ask"
        return "gone"
