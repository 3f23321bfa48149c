"""Names and codes that the server gives: drawn from a source of randomness that is passed in."""

from __future__ import annotations

from collections.abc import Callable, Container
from hashlib import sha256

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without letters that look alike."""
ROOM_LETTERS = 5
ROOMS = len(LETTERS) ** ROOM_LETTERS
"""How many names of rooms there are: 28 million."""


class Names:
    """Gives out rooms, matches, tokens and seeds. ``draw(n)`` is an unpredictable number from 0 to n - 1."""

    def __init__(self, draw: Callable[[int], int]) -> None:
        self._draw = draw
        self._next_room = draw(ROOMS)
        self._stride = 1 + len(LETTERS) * draw(ROOMS // len(LETTERS))

    def _word(self, length: int) -> str:
        return "".join(LETTERS[self._draw(len(LETTERS))] for _ in range(length))

    def room(self, *taken: Container[str]) -> str:
        """A short name for a room, to be typed by people; not a secret. None is given twice by one server."""
        while True:
            number, name = self._next_room, ""
            # The stride has no divisor in common with the number of names, so the walk comes by all of them.
            self._next_room = (number + self._stride) % ROOMS
            for _ in range(ROOM_LETTERS):
                number, letter = divmod(number, len(LETTERS))
                name += LETTERS[letter]
            if not any(name in names for names in taken):
                return name

    def match(self) -> str:
        """A name under which a match is kept for ever."""
        return self._word(12)

    def token(self) -> str:
        """A secret: about 155 bits."""
        return self._word(32)

    def seed(self) -> int:
        """A seed for a match."""
        return self._draw(2**48)


def digest(token: str) -> str:
    """What is kept of a token."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
