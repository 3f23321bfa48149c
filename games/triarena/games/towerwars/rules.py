"""The rules for one side on a board of one size, as tables: where its stones may land, and what stands there then.

A landing table has one entry per possible content of the target field: its content after the landing, or
FORBIDDEN. A landing never leaves a field empty, so FORBIDDEN can be 0 and the tables serve as filters too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from triarena.games.core import Side

from .board import board_of
from .pieces import BASE, BLOCKED, BLUE, EMPTY, HEIGHT, RED

FORBIDDEN = 0


@dataclass(frozen=True, slots=True, eq=False)
class SideRules:
    """Tables of 256 entries, one per content of a field; and the side's own pieces."""

    own: int
    """The bit of the side's pieces, and by itself its stone."""
    base: int
    """The field on which the side's base stands."""
    stones: bytes
    """1 for an own stone, else 0."""
    heights: bytes
    """The height of an own tower that is not blocked, else 0: such towers are dismantled and lengthen reaches."""
    near: bytes
    """Landings of a stone on a neighbouring field (seed: Nahzug)."""
    far: bytes
    """Landings of a stone further away (seed: Fernzug)."""
    dismantled: bytes
    """Landings of a tower's top stone (seed: Abbau), always on a neighbouring field."""


@cache
def side_rules(size: int, side: Side) -> SideRules:
    """The rules for ``side`` on the board of ``size``."""
    board = board_of(size)
    own, base = (RED, board.red_base) if side is Side.RED else (BLUE, board.blue_base)
    contents = range(256)
    return SideRules(
        own=own,
        base=base,
        stones=bytes(content == own for content in contents),
        heights=bytes(content & HEIGHT if content & (own | BLOCKED | BASE) == own else 0 for content in contents),
        near=bytes(_near(content, own, board.max_height) for content in contents),
        far=bytes(_far(content, own, board.max_height) for content in contents),
        dismantled=bytes(_dismantled(content, own, board.max_height) for content in contents),
    )


def _near(content: int, own: int, max_height: int) -> int:
    """A stone captures whatever of the opponent's stands there: stone, whole tower (blocked or not), base."""
    return own if _opponents(content, own) else _dismantled(content, own, max_height)


def _far(content: int, own: int, max_height: int) -> int:
    """A tower is not captured from afar but blocked, and only once; the blocking stone leaves play."""
    if _opponents(content, own) and content & HEIGHT:
        return FORBIDDEN if content & BLOCKED else content | BLOCKED
    return _near(content, own, max_height)


def _dismantled(content: int, own: int, max_height: int) -> int:
    """On an empty field, or on an own piece: builds, raises or unblocks a tower. Captures nothing."""
    if content == EMPTY:
        return own
    if _opponents(content, own) or content & BASE:
        return FORBIDDEN
    if content & BLOCKED:
        return content ^ BLOCKED  # the arriving and the blocking stone leave play: the height stays
    return content + 1 if content & HEIGHT < max_height else FORBIDDEN


def _opponents(content: int, own: int) -> bool:
    return content != EMPTY and not content & own
