"""How fast one client may speak: token buckets. Pure: the time is passed in."""

from __future__ import annotations

from dataclasses import dataclass

BURST_SECONDS = 4.0
"""How many seconds' worth may come at once after a silence."""


class Bucket:
    """Fills with ``per_second`` tokens a second up to ``capacity``; may be overdrawn, and then is waited for.

    All it remembers is when it will be full. Times are seconds of any clock that never goes back.
    """

    __slots__ = ("_capacity", "_full_at", "_per_second")

    def __init__(self, per_second: float, capacity: float, now: float) -> None:
        self._per_second = per_second
        self._capacity = capacity
        self._full_at = now

    def take(self, amount: float, now: float) -> float:
        """Take tokens, more than there are if need be; the seconds until nothing is owed, 0 if nothing is."""
        self._full_at = max(self._full_at, now) + amount / self._per_second
        return self._seconds_until(0.0, now)

    def wait(self, now: float) -> float:
        """Seconds until there is a whole token; 0 if there is one."""
        return self._seconds_until(1.0, now)

    def _seconds_until(self, level: float, now: float) -> float:
        return max(0.0, self._full_at - now - (self._capacity - level) / self._per_second)


@dataclass(frozen=True, slots=True)
class Pace:
    """What a client may send in the long run, and for how long it may exceed that."""

    messages: float
    """Messages a second."""
    bytes: float
    """Bytes a second."""
    flood: float
    """Seconds in which a client that is held back may go on sending too much before it is closed."""

    def __str__(self) -> str:
        return f"{self.messages:g} messages or {self.bytes:g} bytes a second"

    @property
    def warning(self) -> str:
        """What a client that exceeds it is told at first."""
        return f"you send more than {self}, and are read more slowly now; after {self.flood:g} s of it you are out"

    @property
    def flood_sentence(self) -> str:
        """What one has done that goes on; its subject comes before."""
        return f"sent more than {self} for {self.flood:g} s"


UNHURRIED = Pace(messages=1000.0, bytes=1_048_576.0, flood=10.0)
"""Above what any bot needs: the moves that the server asks for do not even count."""


class Meter:
    """Holds one client to its pace.

    A client that is too fast is made to wait until it owes nothing, so that in the long run it is as fast as it may
    be. One that then goes on as before is a flood: it has been in debt again and again for ``Pace.flood`` seconds,
    and never once paused for as long as its burst lasts.
    """

    __slots__ = ("_bytes_paid_at", "_in_debt_since", "_last_debt", "_messages_paid_at", "_pace")

    def __init__(self, pace: Pace, now: float) -> None:
        self._pace = pace
        # Two buckets, as small as can be: every idle client has them. See Bucket for the arithmetic.
        self._messages_paid_at = self._bytes_paid_at = now
        self._in_debt_since: float | None = None
        self._last_debt = now

    def take(self, messages: float, bytes: int, now: float) -> float:
        """Seconds for which nothing more may be read from the client, after it sent so much; 0: read on."""
        self._messages_paid_at = max(self._messages_paid_at, now) + messages / self._pace.messages
        self._bytes_paid_at = max(self._bytes_paid_at, now) + bytes / self._pace.bytes
        wait = max(0.0, max(self._messages_paid_at, self._bytes_paid_at) - now - BURST_SECONDS)
        if self._in_debt_since is not None and now - self._last_debt > BURST_SECONDS:
            self._in_debt_since = None
        if wait > 0:
            if self._in_debt_since is None:
                self._in_debt_since = now
            self._last_debt = now + wait
        return wait

    @property
    def held_back(self) -> bool:
        """Whether the client was too fast a moment ago and has not paused since."""
        return self._in_debt_since is not None

    def flooding(self, now: float) -> bool:
        """Whether the client goes on although it has been held back for long enough."""
        return self._in_debt_since is not None and now - self._in_debt_since >= self._pace.flood
