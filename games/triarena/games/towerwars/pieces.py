"""What can stand on a field: as one byte (how positions store it), as a value, as text.

A byte holds the side in its two highest bits and the height of a tower in its four lowest; a stone is a
tower of height 0, so that one more stone on it is ``+ 1`` and its top stone taken away is ``- 1``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from triarena.games.core import Side

EMPTY = 0x00
HEIGHT = 0x0F
"""Mask: the height of a tower."""
BASE = 0x10
BLOCKED = 0x20
RED = 0x40
"""A red piece, and by itself a red stone."""
BLUE = 0x80
"""A blue piece, and by itself a blue stone."""

MAX_HEIGHT = 8
"""The highest tower of the largest board."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What stands on a field that is not empty."""

    side: Side
    kind: Literal["base", "stone", "tower"]
    height: int = 0
    """Of a tower, from 1; a tower of height h consists of h + 1 stones."""
    blocked: bool = False
    """Only a tower can be: it neither moves nor lengthens anybody's reach."""

    @property
    def stones(self) -> int:
        """How many stones of its side it consists of."""
        return 0 if self.kind == "base" else self.height + 1

    def __str__(self) -> str:
        """As in the position text: ``R`` a base, ``r`` a stone, ``r3`` a tower, ``r3x`` a blocked one."""
        letter = "r" if self.side is Side.RED else "b"
        if self.kind == "base":
            return letter.upper()
        return f"{letter}{self.height or ''}{'x' if self.blocked else ''}"


def _all_pieces() -> dict[int, Piece]:
    pieces: dict[int, Piece] = {}
    for side, own in ((Side.RED, RED), (Side.BLUE, BLUE)):
        pieces[own | BASE] = Piece(side, "base")
        pieces[own] = Piece(side, "stone")
        for height in range(1, MAX_HEIGHT + 1):
            pieces[own | height] = Piece(side, "tower", height)
            pieces[own | height | BLOCKED] = Piece(side, "tower", height, blocked=True)
    return pieces


PIECES: Mapping[int, Piece] = MappingProxyType(_all_pieces())
"""The piece that a byte stands for; EMPTY is not among them."""

TEXTS: Mapping[int, str] = MappingProxyType({EMPTY: "."} | {byte: str(piece) for byte, piece in PIECES.items()})
"""The text of a byte in the position text, e.g. ``.``, ``R``, ``r``, ``r3``, ``r3x``."""

BYTES: Mapping[str, int] = MappingProxyType({text: byte for byte, text in TEXTS.items()})
"""The other way round."""
