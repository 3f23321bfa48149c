"""Who is waited for, and until when: what the organiser is told about players who have a game and are not there."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final

from .wording import listed

SAME_SECONDS: Final = 1.0
"""Ends of patience that differ by less are the same."""


class Waiting:
    """Knows what was told last, so that it is told once."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[float, str]] = {}

    @property
    def names(self) -> Collection[str]:
        """Who is waited for."""
        return self._told.keys()

    def sentences(self) -> list[str]:
        """About everybody who is waited for."""
        return [sentence for _, sentence in self._told.values()]

    def brief(self) -> list[str]:
        """The same in as few lines as it takes: those who are waited for until the same moment stand together."""
        together: dict[str, list[str]] = {}
        for name, (_, sentence) in self._told.items():
            together.setdefault(sentence.removeprefix(name), []).append(name)
        return [_briefly(names, what) for what, names in together.items()]

    def news(self, deadlines: Mapping[str, float], absent: Collection[str], moment: float, now: datetime) -> list[str]:
        """What has changed: sentences.

        ``deadlines`` says for those who have a game to play until when they are waited for, ``absent`` who is not there
        at all. ``moment`` is now in the deadlines' time, ``now`` in that of the world.
        """
        before, self._told = self._told, {}
        found = [f"{name} is here now" for name in before if name not in absent]
        for name, deadline in deadlines.items():
            self._told[name] = told = _about(name, deadline, moment, now, before.get(name))
            if name not in before or before[name][1] != told[1]:
                found.append(told[1])
        return found


def _briefly(names: list[str], what: str) -> str:
    is_ = "is" if len(names) == 1 else "are"
    if (until := re.search(r"until ([\d:]+)", what)) is not None:
        return f"{listed(names)} {is_} not here, waited for until {until[1]}"
    return f"{listed(names)} {is_} not here, and {'loses' if len(names) == 1 else 'lose'} the games that are due"


def _about(
    name: str, deadline: float, moment: float, now: datetime, before: tuple[float, str] | None
) -> tuple[float, str]:
    if deadline <= moment:
        return deadline, f"{name} is not here, and loses the games that are due until it comes"
    if before is not None and abs(before[0] - deadline) < SAME_SECONDS:
        return before
    until = (now + timedelta(seconds=deadline - moment)).astimezone()
    sentence = f"{name} is not here, and is waited for until {until:%H:%M:%S}; then it loses the games that are due"
    return deadline, sentence
