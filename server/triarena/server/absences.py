"""Who can't be asked: for how long each may stay away, and what becomes of the match if it does not come back.

While a match is paused nobody is waited for, since nobody owes anything; whoever is away when it goes on then has all
of its time, and its clock stands still until it is back. So has who is away when a lost database is back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from triarena.games import AnyPosition, Side
from triarena.protocol.values import Result

from . import results

AbsenceReason: TypeAlias = Literal["disconnected", "stalled", "no_show", "not_resumed"]


@dataclass(frozen=True, slots=True)
class Absence:
    """A side that can't be asked; moments are trio's."""

    side: Side
    reason: AbsenceReason
    message: str
    """What happened to it."""
    patience: float
    """Seconds for which it may stay away."""
    until: float
    """When these are over."""
    untimed: bool = False
    """Its clock stands still until it is back."""
    excused: bool = False
    """It is away because the server was: nobody loses by it."""
    spared: bool = False
    """It went while the server was stopping: it is judged by nobody, and has its time after the next start."""

    @property
    def overdue(self) -> str:
        """What is said of it when it was away for too long."""
        match self.reason:
            case "no_show":
                return f"{self.message} within {self.patience:g} s"
            case "not_resumed":
                return f"{self.side.value} did not come back within {self.patience:g} s after the server's new start"
            case "disconnected" | "stalled":
                return f"{self.message}, and it did not come back within {self.patience:g} s"


@dataclass(slots=True)
class Absences:
    """Those of one match. ``grace`` and ``startup`` are seconds; see ``Terms``."""

    grace: float
    startup: float
    _away: dict[Side, Absence] = field(default_factory=dict)
    _paused: bool = False

    def __bool__(self) -> bool:
        return bool(self._away)

    def of(self, side: Side) -> Absence | None:
        """How a side is away; None if it is there."""
        return self._away.get(side)

    def lost(self, side: Side, reason: Literal["disconnected", "stalled"], message: str, now: float) -> Absence:
        """A side's connection is lost; the grace period begins."""
        self._away[side] = Absence(side, reason, message, self.grace, now + self.grace)
        return self._away[side]

    def spare(self, side: Side) -> None:
        """Nobody is to judge that a side is away."""
        self._away[side] = replace(self._away[side], spared=True)

    def unready(self, side: Side, now: float) -> None:
        """A side was told the match, at its start or since it is back, and is to say ``ready``."""
        message = f"{side.value} did not answer 'match_started' with 'ready'"
        absence = Absence(side, "no_show", message, self.startup, now + self.startup)
        if (before := self._away.get(side)) is not None:
            absence = replace(absence, untimed=before.untimed, excused=before.excused, spared=before.spared)
        self._away[side] = absence

    def not_resumed(self, patience: float, now: float) -> None:
        """The server has been started again: both sides are away, and excused, for ``patience`` seconds."""
        for side in Side:
            message = f"{side.value} has not come back since the server was started again"
            until = now + patience
            self._away[side] = Absence(side, "not_resumed", message, patience, until, untimed=True, excused=True)

    def ready(self, side: Side) -> None:
        """A side is there."""
        self._away.pop(side, None)

    def heed(self, now: float, *, paused: bool) -> None:
        """Whether the match is paused now; when it goes on, everybody's time to come back begins anew."""
        if self._paused and not paused:
            self.renew(now)
        self._paused = paused

    def renew(self, now: float) -> None:
        """Nobody's time ran for a while: who is away has all of its time to come back from now on."""
        self._away = {
            side: replace(absence, until=now + absence.patience, untimed=True) for side, absence in self._away.items()
        }

    def until(self, side: Side) -> float:
        """When a side will have been away for too long; infinite if it is there, or nobody is waited for."""
        absence = self._away.get(side)
        return math.inf if absence is None or self._paused else absence.until

    def deadline(self) -> float:
        """When the first of them will have been away for too long."""
        return min(map(self.until, Side))

    def verdict(self, position: AnyPosition, ply: int) -> Result | None:
        """Somebody was away for too long: the result; None if the match is to be broken off for it, and resumed.

        If both are away, both are to blame, whoever went first.
        """
        missed = min(self._away.values(), key=lambda absence: absence.until)
        if missed.reason == "not_resumed" or missed.excused:
            return results.aborted("not_resumed", position, missed.overdue)
        if any(absence.spared for absence in self._away.values()):
            return None
        offenders = [side for side in Side if side in self._away]
        sentence = missed.overdue
        if len(offenders) == 2:
            sentence = f"both sides are away: {sentence}; {self._away[missed.side.other].message}"
        return results.forfeit(missed.reason, offenders, position, sentence, ply=ply)

    def out_of_time(self, side: Side, position: AnyPosition, ply: int) -> Result | None:
        """The clock of an absent side has run out: the result; None as in ``verdict``."""
        absence = self._away[side]
        if absence.spared:
            return None
        sentence = f"{absence.message}; its time ran out at ply {ply} before it was back"
        reason = "disconnected" if absence.reason == "not_resumed" else absence.reason
        return results.forfeit(reason, [side], position, sentence, ply=ply)
