"""Ending a match that has lasted as long as a game may, whatever its clock says."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from triarena.protocol.values import SideName

from .desk import DeskError
from .link import Link, Watch

LAST_PLY_SECONDS: Final = 60.0
"""For the ply that is being thought about then, at most; else a tenth of the whole time."""
CLOSE_SECONDS: Final = 1.0
"""For the server to tell how it stood in the end."""


@dataclass(frozen=True, slots=True)
class End:
    """How such a match stood when it was broken off."""

    hangs: SideName | None
    """Whose turn it was all the time that was left for one more ply; None: they played on."""
    scores: tuple[float, float]
    """The game's own points of red and blue."""
    match: str | None


async def end_overlong(watch: Watch, link: Link, limit: float) -> End | None:
    """Break a match off that has lasted ``limit`` seconds; None if it comes to an end of its own meanwhile."""
    before = await _ply(watch, link)
    if await link.bell.until(lambda: watch.over, link.bell.now() + min(LAST_PLY_SECONDS, limit / 10)):
        return None
    after = await _ply(watch, link)
    hangs = watch.info.to_move if watch.info is not None and before == after else None
    await link.close(watch.room, "it has lasted as long as a game may")
    await link.bell.until(lambda: watch.over, link.bell.now() + CLOSE_SECONDS)
    result = watch.result
    if result is not None and result.kind != "aborted":
        return None
    scores = (0.0, 0.0) if result is None else (float(result.sides.red.score), float(result.sides.blue.score))
    return End(hangs, scores, watch.info.match if watch.info is not None else None)


async def _ply(watch: Watch, link: Link) -> int:
    """How many plies were played by now."""
    with suppress(DeskError):
        await link.look(watch)
    return watch.info.ply if watch.info is not None else 0
