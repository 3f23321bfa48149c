"""Where the boards come from: the seed of every pair of games, and lots that anybody can draw again.

Nothing here is random: all is derived from the tournament's seed by SHA-256 (FIPS 180-4), so that a tournament that
is resumed, or computed by somebody else, has the same boards and the same lots.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

SEED_BITS = 53
"""What a seed has room for: whole numbers that every JSON reader keeps exactly."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """The seed of every pair of games, drawn from the tournament's seed or taken from a list in turn.

    Drawn, every pair has a board of its own. From a list, all tables of a round play the same boards, and the next
    round takes the next ones; when the list is at its end it begins again. So everybody has met the same boards after
    the same number of rounds.
    """

    tournament: int
    """The tournament's own seed."""
    given: tuple[int, ...] = ()
    """The list, if there is one."""
    per_round: int = 1
    """How many boards an encounter takes, which is by how much a round moves on in the list."""

    def of_pair(self, pair: str, round_number: int, index: int) -> int:
        """The seed of one pair: its name, its round (from 1) and its place among the encounter's pairs (from 0)."""
        if self.given:
            return self.given[((round_number - 1) * self.per_round + index) % len(self.given)]
        return _draw(self.tournament, "board", pair)


def by_lot(seed: int, occasion: str, names: Iterable[str]) -> tuple[str, ...]:
    """Names in an order drawn by lot. The ``occasion`` tells the lots of one tournament apart.

    The order that the names come in makes no difference.
    """
    return tuple(sorted(names, key=lambda name: (_draw(seed, "lot", occasion, name), name)))


def _draw(seed: int, *words: str) -> int:
    """A whole number below ``2**SEED_BITS``."""
    text = "\x1f".join((str(seed), *words))
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big") >> (64 - SEED_BITS)
