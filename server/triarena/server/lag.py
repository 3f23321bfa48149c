"""How late the event loop is: so that a stall of the server is measured and stored.

Where the system does not stamp arrivals (see ``stamps``), the loop also says when bytes came, as well as it can.

The loop looks for input, runs what is due, looks again. While it runs it can't see bytes arrive; it finds them at its
next look. So all that is known of bytes found without waiting is that they came after the look before, and the
benefit of that doubt is the client's.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable

import trio

KEPT_SECONDS = 300.0
"""For how long a lag is remembered."""
STANDSTILL = 0.25
"""From so many seconds on a lag is a standstill of the server, which nobody's time to answer or come back runs in."""
KEPT_STANDSTILLS = 256
KEPT = 1024
"""How many are, at most; of each, whether it was the worst since its end is all that is ever asked."""
OVERSLEPT = 0.002
"""By how many seconds a look may end late before the process counts as kept from running meanwhile."""
WAITED = 0.0005
"""A look that took this many seconds has waited: what it found has just come."""


class LoopLag(trio.abc.Instrument):
    """Watches the loop of one ``trio.run``; install with ``trio.lowlevel.add_instrument``.

    ``clock`` must run as trio's own does, up to a constant, which ``align`` finds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._offset = 0.0
        now = clock()
        self._looked, self._woke = now, now
        # What had come until then has been seen, by this look or the one before. One that ended late has seen nothing
        # after its beginning: a wait that was interrupted (the process was stopped) gives up without looking again.
        self._seen, self._seen_before = now, now
        self._waited = True
        self._due = now
        # When each lag ended, and how long it was; what a worse one followed is forgotten: the later, the smaller.
        self._ends: list[float] = []
        self._lags: list[float] = []
        self._standstills: deque[tuple[float, float]] = deque(maxlen=KEPT_STANDSTILLS)  # when each began and ended
        self.worst = 0.0
        """The worst of all, in seconds."""

    def align(self, now: float) -> None:
        """``now`` is trio's time at this moment."""
        self._offset = now - self._clock()

    def before_io_wait(self, timeout: float) -> None:
        """The loop has run what was due, and looks for input."""
        self._looked = self._clock()
        self._due = self._looked + timeout
        self._note(self._looked - self._woke, self._looked)

    def after_io_wait(self, timeout: float) -> None:
        """The loop has looked, and will run what is due."""
        now = self._clock()
        overslept = now - self._due > OVERSLEPT
        self._woke = now
        self._seen_before, self._seen = self._seen, self._looked if overslept else now
        self._waited = now - self._looked >= WAITED
        self._note(now - self._due, now)  # woken late: the processor was busy with something else

    def arrival(self) -> float:
        """When bytes that were read just now came, in trio's time, as far as the loop can tell: not after they did,
        unless it was kept from running just when it waited for them, and that is not seen since nothing else was due.
        """
        return (self._seen if self._waited else self._seen_before) + self._offset

    def worst_since(self, moment: float) -> float:
        """The worst lag in seconds since a moment of trio's time, as far back as is remembered. Of one that had begun
        before, the rest counts.
        """
        now, since = self._clock(), moment - self._offset
        first = bisect_left(self._ends, since)
        later = [
            (now, now - self._woke),
            *zip(self._ends[first : first + 2], self._lags[first : first + 2], strict=True),
        ]
        return max(min(lag, end - since) for end, lag in later)

    def stood_still(self, since: float, until: float) -> float:
        """For how many seconds between two moments of trio's time the server stood still; of a standstill that had not
        ended by the second, nothing counts.
        """
        if not self._standstills:
            return 0.0
        since, until = since - self._offset, until - self._offset
        return sum(max(0.0, end - max(began, since)) for began, end in self._standstills if end <= until)

    def _note(self, lag: float, end: float) -> None:
        """The loop was late by so much, until ``end``."""
        if lag <= 0:
            return
        if lag > STANDSTILL:
            self._standstills.append((end - lag, end))
        ends, lags = self._ends, self._lags
        while lags and lags[-1] <= lag:
            ends.pop()
            lags.pop()
        if len(lags) >= KEPT or (ends and ends[0] < end - KEPT_SECONDS):
            old = max(len(lags) - KEPT + 1, bisect_left(ends, end - KEPT_SECONDS))
            del ends[:old], lags[:old]
        ends.append(end)
        lags.append(lag)
        self.worst = max(self.worst, lag)
