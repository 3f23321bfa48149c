"""Processes of bots that are lost with their guards, again and again: when that is no accident any more.

A guard that dies takes its bot along, and that need be no fault of the bot: the game is played again. But a bot that
kills its own guard could have every game played again that goes badly. So from its third loss on, in whichever games of
a tournament and its resumptions, each counts as that bot's crash at once; nothing that happens in between forgives one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from triarena.tournament.values import Fixture, Played, SideName

from .attempt import Failed, Outcome, Sporting
from .records import Note

MOST: Final = 3
"""So often is no accident."""
PROCESS_LOST: Final = "process_lost"
"""The kind of the notes by which losses are remembered."""


class LostProcesses:
    """Counts them, by the bots' names."""

    def __init__(self) -> None:
        self._losses: Counter[str] = Counter()

    def remember(self, notes: Iterable[Note]) -> None:
        """Count those that were noted before."""
        self._losses = Counter(note.player for note in notes if note.kind == PROCESS_LOST)

    def judged(self, fixture: Fixture, outcome: Outcome) -> tuple[Outcome, str]:
        """The outcome of an attempt, which is a loss if it failed for a bot whose process is lost too often.

        Also whose loss is to be noted, or empty.
        """
        if isinstance(outcome, Sporting) or not outcome.culprit:
            return outcome, ""
        name = outcome.culprit
        self._losses[name] += 1
        if self._losses[name] < MOST:
            return outcome, name
        return self._crash(fixture, name, outcome), name if self._losses[name] == MOST else ""

    def _crash(self, fixture: Fixture, name: str, failed: Failed) -> Sporting:
        side = fixture.side_of(name)
        winner: SideName = "blue" if side == "red" else "red"
        message = (
            f"{failed.message}. That has happened {self._losses[name]} times in this tournament, so it counts as a "
            f"crash of {name}: something harms the guard of its process, most likely the bot itself"
        )
        return Sporting(Played(fixture, winner, "disconnected", (side,)), message, failed.match)
