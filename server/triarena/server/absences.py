"""Who can't be asked: for how long each may stay away, and what becomes of the match if it does not come back.

Before its first ply, and after a restart of the server, a match gathers: it begins, or goes on, at the moment when both
sides are there and ready. Until its next ``ready`` a side has its times once, however often it comes and goes: one
grace period, one start-up time. With ``ready`` it has done what it owes, and has all of its times again, should it be
lost while the other still gathers; that holds nobody up, since nothing but the other is waited for then. After a
restart nobody loses by being away before both were back.

While a match is paused nobody is waited for, since nobody owes anything; whoever is away when it goes on then has all
of its time, and its clock stands still until it is back. So has who is away when a lost database is back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from triarena.games import AnyPosition, Side
from triarena.protocol.values import Result

from . import results

FLOOR_SECONDS: Final = 5.0
"""What a side that comes back has at least to say ``ready``, or all of its start-up time if that is less."""
TINY: Final = 1e-6
"""Seconds that are an error of rounding."""

AbsenceReason: TypeAlias = Literal["disconnected", "stalled", "no_show", "not_resumed"]


@dataclass(frozen=True, slots=True)
class Absence:
    """A side that can't be asked; moments are trio's."""

    side: Side
    reason: AbsenceReason
    message: str
    """What happened to it."""
    patience: float
    """Seconds for which it may stay away, by the rule."""
    until: float
    """When its time is over."""
    rest: bool = False
    """Of these seconds a part had gone before."""
    connected: bool = False
    """It has a connection and was told the match, and is to say ``ready``."""
    untimed: bool = False
    """Its clock stands still until it is back."""
    excused: bool = False
    """It is away because the server was: nobody loses by it."""
    spared: bool = False
    """It went while the server was stopping: it is judged by nobody, and has its time after the next start."""

    @property
    def overdue(self) -> str:
        """What is said of it when it was away for too long."""
        seconds = f"{round(self.patience, 1):g} s"
        within = f"within what was left of its {seconds}" if self.rest else f"within {seconds}"
        match self.reason:
            case "no_show":
                return f"{self.message} {within}"
            case "not_resumed":
                return f"{self.message}; it was to be back and ready {within}"
            case "disconnected" | "stalled":
                return f"{self.message}, and it did not come back {within}"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a side has left of its times, until it is ready."""

    startup: float
    """Seconds of its start-up time that are left, if ``ready_by`` is None."""
    ready_by: float | None = None
    """When its start-up time is over; None while that does not run, since it has had no connection."""
    back_by: float | None = None
    """When its grace period is over; None if that has not begun."""

    def postponed(self, seconds: float) -> Allowance:
        """The same, so much later."""
        later = [None if moment is None else moment + seconds for moment in (self.ready_by, self.back_by)]
        return Allowance(self.startup, *later)


@dataclass(slots=True)
class Absences:
    """Those of one match. ``grace`` and ``startup`` are seconds; see ``Terms``."""

    grace: float
    startup: float
    gathering: bool = True
    """Whether the match waits for both sides, to begin or to go on after a restart."""
    _away: dict[Side, Absence] = field(default_factory=dict)
    _left: dict[Side, Allowance] = field(default_factory=dict)
    _visits: dict[Side, int] = field(default_factory=lambda: dict.fromkeys(Side, 0))
    """The latest connection of each side that is known of; what is still heard of an earlier one counts for nothing."""
    _resume: float | None = None
    """Seconds that a side has to come back after a restart, until the match goes on; None in any other."""
    _paused: bool = False

    def __bool__(self) -> bool:
        return bool(self._away)

    @property
    def excused(self) -> bool:
        """Whether nobody loses by being away, since the server was."""
        return self._resume is not None

    @property
    def nobody(self) -> bool:
        """Whether neither side has a connection."""
        return len(self._away) == len(Side) and not any(absence.connected for absence in self._away.values())

    def of(self, side: Side) -> Absence | None:
        """How a side is away; None if it is there."""
        return self._away.get(side)

    def visit(self, side: Side) -> int:
        """Over which connection a side is there, or was last."""
        return self._visits[side]

    # -- what happens --------------------------------------------------------------------------

    def opened(self, now: float) -> None:
        """Whoever has a connection was told that the match begins, and is to say ``ready``; a side that was lost
        before stays away.
        """
        for side in Side:
            absence = self._away.get(side)
            if absence is None or absence.connected:
                self._left[side] = Allowance(self.startup, now + self.startup)
                self._away[side] = self._loading(side, now)

    def not_resumed(self, patience: float, now: float) -> None:
        """The server has been started again: both sides are away, and excused, for ``patience`` seconds."""
        self._resume = patience
        for side in Side:
            message = f"{side.value} has not come back since the server was started again"
            self._left[side] = Allowance(self.startup, back_by=now + patience)
            self._away[side] = Absence(
                side, "not_resumed", message, patience, now + patience, untimed=True, excused=True
            )

    def lost(
        self, side: Side, visit: int, reason: Literal["disconnected", "stalled"], message: str, now: float
    ) -> bool:
        """A side's connection is lost: the grace period begins, unless it has. False if the side has another."""
        if visit < self._visits[side]:
            return False
        self._visits[side] = visit
        left = self._left.get(side, Allowance(self.startup))
        until = left.back_by
        if until is None:
            startup = left.startup if left.ready_by is None else max(left.ready_by - now, self._floor)
            until = now + self._patience
            left = Allowance(startup, back_by=until)
        elif left.ready_by is not None:
            until = max(until, min(now + self._patience, left.ready_by))
        self._left[side] = left
        why: AbsenceReason = reason if self._resume is None else "not_resumed"
        rest = until - now < self._patience - TINY
        self._put(Absence(side, why, message, self._patience, until, rest))
        return True

    @property
    def _patience(self) -> float:
        """Seconds for which a lost side is waited for."""
        return self.grace if self._resume is None else self._resume

    @property
    def _floor(self) -> float:
        return min(self.startup, FLOOR_SECONDS)

    def returned(self, side: Side, visit: int, now: float) -> bool:
        """A side has a connection again, and is to say ``ready``. False if it has a later one already."""
        if visit < self._visits[side]:
            return False
        self._visits[side] = visit
        left = self._left.get(side, Allowance(self.startup))
        ready_by = now + left.startup if left.ready_by is None else left.ready_by
        if left.back_by is not None:
            ready_by = max(ready_by, min(now, left.back_by) + self._floor)
            if self._resume is not None:
                ready_by = max(ready_by, left.back_by)
        self._left[side] = replace(left, ready_by=ready_by)
        self._put(self._loading(side, now))
        return True

    def ready(self, side: Side, visit: int) -> None:
        """A side is there; unless that was another connection, or this one has been lost."""
        absence = self._away.get(side)
        if absence is None or not absence.connected or visit < self._visits[side]:
            return
        del self._away[side]
        del self._left[side]

    def gathered(self) -> None:
        """Both are there: the match begins, or goes on."""
        self.gathering, self._resume = False, None
        self._left.clear()

    def spare(self, side: Side) -> None:
        """Nobody is to judge that a side is away."""
        self._away[side] = replace(self._away[side], spared=True)

    def _loading(self, side: Side, now: float) -> Absence:
        message = f"{side.value} did not answer 'match_started' with 'ready'"
        until = self._left[side].ready_by
        assert until is not None, "its start-up time runs"
        rest = until - now < self.startup - TINY
        patience = self.startup if rest else until - now
        return Absence(side, "no_show", message, patience, until, rest, connected=True)

    def _put(self, absence: Absence) -> None:
        """A side is away in another way than before."""
        if (before := self._away.get(absence.side)) is not None:
            untimed, excused, spared = before.untimed, before.excused, before.spared
            absence = replace(absence, untimed=untimed, excused=excused, spared=spared)
        elif self._resume is not None:
            absence = replace(absence, untimed=True, excused=True)
        self._away[absence.side] = absence

    # -- time for which nobody is waited for ---------------------------------------------------

    def heed(self, now: float, *, paused: bool) -> None:
        """Whether the match is paused now; when it goes on, everybody's time to come back begins anew."""
        if self._paused and not paused:
            self.renew(now)
        self._paused = paused

    def renew(self, now: float) -> None:
        """Nobody's time ran for a while: who is away has all of its time to come back from now on."""
        for side, absence in self._away.items():
            if absence.connected:
                patience = self.startup
                self._left[side] = Allowance(self.startup, now + patience)
            else:
                patience = self._patience
                self._left[side] = Allowance(self.startup, back_by=now + patience)
            self._away[side] = replace(absence, patience=patience, until=now + patience, rest=False, untimed=True)

    def postpone(self, seconds: float) -> None:
        """The server has kept everybody waiting for so long: nobody's time to come back has run."""
        for side, absence in self._away.items():
            self._away[side] = replace(absence, until=absence.until + seconds)
        for side, left in self._left.items():
            self._left[side] = left.postponed(seconds)

    # -- what becomes of it --------------------------------------------------------------------

    def until(self, side: Side) -> float:
        """When a side will have been away for too long; infinite if it is there, or nobody is waited for."""
        absence = self._away.get(side)
        return math.inf if absence is None or self._paused else absence.until

    def deadline(self) -> float:
        """When the first of them will have been away for too long."""
        return min(map(self.until, Side))

    def verdict(self, position: AnyPosition, ply: int, now: float) -> Result | None:
        """Somebody was away for too long: the result; None if the match is to be broken off for it, and resumed.

        To blame is who exceeded its time, and also who has no connection at that moment, whoever went first; but not
        who has one and is getting ready in time.
        """
        to_blame = [a for a in self._away.values() if a.until <= now or not a.connected]
        if any(absence.spared for absence in to_blame):
            return None
        missed = min(to_blame, key=lambda absence: absence.until)
        offenders = [side for side in Side if any(absence.side is side for absence in to_blame)]
        sentence = missed.overdue
        if len(offenders) == 2:
            sentence = f"both sides are away: {sentence}; {self._away[missed.side.other].message}"
        if missed.reason == "not_resumed" or any(absence.excused for absence in self._away.values()):
            return results.aborted("not_resumed", position, sentence)
        return results.forfeit(missed.reason, offenders, position, sentence, ply=ply)

    def out_of_time(self, side: Side, position: AnyPosition, ply: int) -> Result | None:
        """The clock of an absent side has run out: the result; None as in ``verdict``."""
        absence = self._away[side]
        if absence.spared:
            return None
        sentence = f"{absence.message}; its time ran out at ply {ply} before it was back"
        reason = "disconnected" if absence.reason == "not_resumed" else absence.reason
        return results.forfeit(reason, [side], position, sentence, ply=ply)
