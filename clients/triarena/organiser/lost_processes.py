"""Processes of bots that are lost with their guards, again and again: when that is no accident any more.

A guard that dies takes its bot along, and that is no fault of the bot: the game is played again. But a bot that kills
or disturbs its own guard would have it played again for ever. So the third time in one game, or the third time in a
row for one bot in whichever games, it counts as that bot's crash.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from triarena.tournament.values import Fixture, Played, SideName

from .attempt import Failed, Outcome, Sporting

MOST: Final = 3
"""So often is no accident."""


class LostProcesses:
    """Counts them, for one run of a tournament."""

    def __init__(self) -> None:
        self._in_games: Counter[tuple[str, str]] = Counter()
        """By the game's id and the bot's name."""
        self._in_a_row: Counter[str] = Counter()

    def judged(self, fixture: Fixture, outcome: Outcome) -> Outcome:
        """The outcome of an attempt, which is a loss if it failed for a bot's process that is always lost."""
        if isinstance(outcome, Sporting):
            for name in fixture.players:
                del self._in_a_row[name]
            return outcome
        name = outcome.culprit
        if not name:
            return outcome
        self._in_games[fixture.id, name] += 1
        self._in_a_row[name] += 1
        if max(self._in_games[fixture.id, name], self._in_a_row[name]) < MOST:
            return outcome
        return _crash(fixture, name, outcome)


def _crash(fixture: Fixture, name: str, failed: Failed) -> Sporting:
    side = fixture.side_of(name)
    winner: SideName = "blue" if side == "red" else "red"
    message = (
        f"{failed.message}. That has happened {MOST} times now, so it counts as a crash of {name}: something harms the "
        "guard of its process, most likely the bot itself"
    )
    return Sporting(Played(fixture, winner, "disconnected", (side,)), message, failed.match)
