"""Whoever gives wrong secrets is turned away for ever longer: what is tried out is found out, and slowed.

A throttle never decides about what is right. Secrets, tokens and codes that are drawn at random (150 bits and more)
are compared first, so that nobody waits for what a neighbour at the same address did; only what is wrong is counted.
For a secret that a person may have made up this is not enough, so ``Gate`` is asked before it is compared.
"""

from __future__ import annotations

from collections import OrderedDict

from .addresses import neighbourhood
from .rate import Bucket

FREE_TRIES = 5
"""Wrong secrets from one address before it has to wait."""
LONGEST_WAIT = 300.0
FORGIVEN_SECONDS = 60.0
"""After so long one of an address's wrong secrets is forgotten."""
REMEMBERED = 1000
"""How many addresses are remembered, of those that were wrong and of those that were right."""
WRONG_PER_SECOND = 5.0
WRONG_AT_ONCE = 100.0
"""From all addresses together: whoever has many gets no further either."""


class Throttle:
    """Counts what was wrong, by address, and says for how long the next wrong one is not even heard."""

    def __init__(self) -> None:
        self._wrong: OrderedDict[str, tuple[float, float, float]] = OrderedDict()
        """By address: how many were wrong, as of when, and until when it has to wait."""

    def wait(self, address: str, now: float, about: str = "") -> float:
        """Seconds for which the address has to wait; 0 for none. What was wrong ``about`` one name, counts for it."""
        _, _, until = self._wrong.get(_key(address, about), (0.0, now, now))
        return max(0.0, until - now)

    def wrong(self, address: str, now: float, about: str = "") -> float:
        """A wrong secret came from there; the seconds that it still had to wait, 0 if it had not.

        One that comes too early is not counted, so that whoever tries without pause hears of it, and no more.
        """
        if (wait := self.wait(address, now, about)) > 0:
            return wait
        key = _key(address, about)
        count, since, _ = self._wrong.pop(key, (0.0, now, now))
        count = max(0.0, count - (now - since) / FORGIVEN_SECONDS) + 1
        pause = 0.0 if count < FREE_TRIES else min(LONGEST_WAIT, 2.0 ** (count - FREE_TRIES))
        self._wrong[key] = (count, now, now + pause)
        while len(self._wrong) > REMEMBERED:
            self._wrong.popitem(last=False)
        return 0.0

    def right(self, address: str, about: str = "") -> None:
        """The right secret came from there."""
        self._wrong.pop(_key(address, about), None)


class Gate:
    """Before a secret that people may have made up: who has to wait, is refused unheard.

    It bounds what one address may try, and what all together may. Addresses from which the right secret came are
    exempt from both, so that nobody can lock its owner out from there.
    """

    def __init__(self) -> None:
        self._throttle = Throttle()
        self._trusted: OrderedDict[str, None] = OrderedDict()
        self._all: Bucket | None = None

    def wait(self, address: str, now: float) -> float:
        """Seconds until the address may try again; 0 if it may now."""
        if neighbourhood(address) in self._trusted:
            return 0.0
        own = self._throttle.wait(address, now)
        return own if self._all is None else max(own, self._all.wait(now))

    def wrong(self, address: str, now: float) -> float:
        """A wrong secret came from there; as in ``Throttle``."""
        if neighbourhood(address) not in self._trusted:
            self._all = self._all or Bucket(WRONG_PER_SECOND, WRONG_AT_ONCE, now)
            self._all.take(1, now)
        return self._throttle.wrong(address, now)

    def right(self, address: str) -> None:
        """The right secret came from there."""
        key = neighbourhood(address)
        self._throttle.right(address)
        self._trusted[key] = None
        self._trusted.move_to_end(key)
        while len(self._trusted) > REMEMBERED:
            self._trusted.popitem(last=False)


def _key(address: str, about: str) -> str:
    return f"{neighbourhood(address)} {about}" if about else neighbourhood(address)
