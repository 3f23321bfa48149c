"""A small random generator that gives the same numbers on every platform and in every version of Python.

SplitMix64 (Steele, Lea and Flood: "Fast splittable pseudorandom number generators", 2014): a counter that grows
by an odd constant, and a function that mixes its bits. The library's generator does not promise that its draws
below a bound stay the same, and a stored match must be drawn again exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

_MASK = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15


class SplitMix64:
    """A stream of random numbers that follows from a seed."""

    def __init__(self, seed: int) -> None:
        """Begin at any seed from 0; the words of one beyond 64 bits are mixed together."""
        if seed < 0:
            raise ValueError(f"a seed is a whole number from 0, not {seed}")
        self._state = seed & _MASK
        while seed := seed >> 64:
            self._state = _mix(self._state) ^ (seed & _MASK)

    def next_word(self) -> int:
        """The next 64 bits."""
        self._state = (self._state + _GAMMA) & _MASK
        return _mix(self._state)

    def below(self, bound: int) -> int:
        """A number from 0 to ``bound`` - 1, each as likely: words above the last full multiple are thrown away."""
        limit = (1 << 64) // bound * bound
        while (word := self.next_word()) >= limit:
            pass
        return word % bound

    def sample(self, items: Iterable[T], count: int) -> list[T]:
        """``count`` different ones of the items in random order (the beginning of a Fisher-Yates shuffle)."""
        pool = list(items)
        for place in range(count):
            other = place + self.below(len(pool) - place)
            pool[place], pool[other] = pool[other], pool[place]
        return pool[:count]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """All items in random order."""
        pool = list(items)
        return self.sample(pool, len(pool))


def _mix(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _MASK
    return word ^ (word >> 31)
