"""Who gives wrong secrets has to wait: secrets, tokens and reservation codes can't be tried out."""

from __future__ import annotations

from collections import OrderedDict

from .addresses import neighbourhood
from .rate import Bucket

FREE_TRIES = 5
"""Wrong secrets from one address before it has to wait."""
LONGEST_WAIT = 300.0
REMEMBERED = 1000
"""How many addresses are remembered, of those that were wrong and of those that were right."""
WRONG_PER_SECOND = 5.0
WRONG_AT_ONCE = 100.0
"""From all addresses together: whoever has many gets no further either."""


class Throttle:
    """Makes an address that gives wrong secrets wait, twice as long each time.

    With ``in_all`` it also bounds what all addresses together may try. That is for a secret which people may have
    chosen; one that was drawn at random needs no such bound, by which strangers could keep its owner out. Even so it
    does not hold for addresses from which the right secret came.
    """

    def __init__(self, *, in_all: bool = False) -> None:
        self._in_all = in_all
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._trusted: OrderedDict[str, None] = OrderedDict()
        self._all: Bucket | None = None

    def wait(self, address: str, now: float, about: str = "") -> float:
        """Seconds until the address may try again; 0 if it may now. What is wrong ``about`` one name, counts for it."""
        key = _key(address, about)
        own = max(0.0, self._wrong.get(key, (0, 0.0))[1] - now)
        if self._all is None or key in self._trusted:
            return own
        return max(own, self._all.wait(now))

    def failed(self, address: str, now: float, about: str = "") -> None:
        """A wrong secret came from there."""
        key = _key(address, about)
        count = self._wrong.pop(key, (0, 0.0))[0] + 1
        wait = 0.0 if count < FREE_TRIES else min(LONGEST_WAIT, 2.0 ** (count - FREE_TRIES))
        self._wrong[key] = (count, now + wait)
        if self._in_all:
            self._all = self._all or Bucket(WRONG_PER_SECOND, WRONG_AT_ONCE, now)
            self._all.take(1, now)
        while len(self._wrong) > REMEMBERED:
            self._wrong.popitem(last=False)

    def succeeded(self, address: str) -> None:
        """The right secret came from there."""
        key = neighbourhood(address)
        self._wrong.pop(key, None)
        self._trusted[key] = None
        self._trusted.move_to_end(key)
        while len(self._trusted) > REMEMBERED:
            self._trusted.popitem(last=False)


def _key(address: str, about: str) -> str:
    return f"{neighbourhood(address)} {about}" if about else neighbourhood(address)
