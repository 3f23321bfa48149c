"""The scribe of one match: writes down what the referee decides, and goes on trying when the database is lost.

What is not stored is not announced, so a lost database makes the match wait; how, is the referee's affair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import structlog
import trio

from triarena.games import Side
from triarena.protocol.values import Result

from .clock import ms
from .evidence import Witness
from .journal import EvidenceKept, Journal, JournalError, MatchEnded, MatchOpened, PlyPlayed
from .lag import LoopLag
from .seat import Seat
from .terms import LastTurn, Played, StorageLost, Terms, Timing

log = structlog.get_logger()

PATIENCE = 5.0
"""Seconds after which a database that says nothing counts as lost."""
SHORTEST_PAUSE, LONGEST_PAUSE = 0.25, 5.0
"""Seconds between two attempts to write; each pause is twice the one before."""
OURS = frozenset({"bad_record", "journal_closed"})
"""Codes of the journal that no waiting helps against."""
REFUSALS = frozenset({"unknown_match", "match_ended", "duplicate_match", "duplicate_ply"})
"""Codes that say that the database holds something else; perhaps it is not the one it was a while ago."""


@dataclass(slots=True, eq=False)
class Scribe:
    """Has one record under way at a time. ``changed`` is told when the database is lost (why), and back (None)."""

    match: str
    room: str
    terms: Terms
    seats: Mapping[Side, Seat]
    settings: Mapping[str, Any]
    """The effective settings, stored with the match."""
    journal: Journal
    now: Callable[[], datetime]
    lag: LoopLag
    changed: Callable[[str | None], None]
    lost: bool = False
    """Whether the latest attempt to write failed, and none has succeeded since."""
    witness: Witness = field(init=False)
    _pending: MatchOpened | PlyPlayed | MatchEnded | None = None
    _announced: bool = False
    _keeping: bool = False
    _changed: bool = False
    """Whether there is evidence that is not kept yet."""

    def __post_init__(self) -> None:
        self.witness = Witness(self.now)

    async def opened(self) -> None:
        """The match begins. Raises StorageLost, like all of these; then ``insist``."""
        names = {side: seat.name or side.value for side, seat in self.seats.items()}
        seats = {
            side.value: {"key": seat.key, "software": seat.software, **self.witness.first(side)}
            for side, seat in self.seats.items()
        }
        await self._write(
            MatchOpened(
                match=self.match,
                room=self.room,
                game=self.terms.game.name,
                rules_version=self.terms.game.rules_version,
                options=dict(self.terms.options),
                seed=self.terms.seed,
                time_control={side.value: seat.control.model_dump() for side, seat in self.seats.items()},
                red=names[Side.RED],
                blue=names[Side.BLUE],
                settings={**self.settings, "seats": seats},
                at=self.now(),
            )
        )

    async def played(self, played: Played, timing: Timing) -> None:
        """A ply was accepted."""
        await self._write(
            PlyPlayed(
                match=self.match,
                ply=played.ply,
                side=played.side,
                move=played.move,
                text=played.text,
                used_ms=played.used_ms,
                at=self._at(timing.arrived),
                limit_ms=timing.limit_ms,
                overhead_ms=None if timing.overhead is None else ms(timing.overhead),
                lag_ms=ms(self.lag.worst_since(timing.asked)),
            )
        )

    async def ended(self, result: Result, *, announced: bool, turn: LastTurn | None) -> None:
        """The match is over; ``announced`` if that was told already, by an administrator's word."""
        self._announced = announced
        last_turn = None if turn is None else self._last_turn(turn)
        await self._write(
            MatchEnded(
                match=self.match,
                result=result.model_dump(exclude_none=True),
                kind=result.kind,
                winner=result.winner,
                reason=result.reason,
                at=self.now(),
                evidence=self.witness.evidence(result, last_turn),
            )
        )

    def _last_turn(self, turn: LastTurn) -> dict[str, Any]:
        """What a turn in which the match ended is judged by, as JSON data."""
        return {
            "side": turn.side.value,
            "ply": turn.ply,
            "asked_at": self._at(turn.asked).isoformat(timespec="milliseconds"),
            "arrived_at": None if turn.arrived is None else self._at(turn.arrived).isoformat(timespec="milliseconds"),
            "answered": turn.arrived is not None,
            "used_ms": ms(turn.used),
            "limit_ms": turn.limit_ms,
            "overhead_ms": None if turn.overhead is None else ms(turn.overhead),
            "lag_ms": ms(self.lag.worst_since(turn.asked)),
        }

    def _at(self, moment: float) -> datetime:
        """A moment of trio's time as the time of day."""
        return self.now() - timedelta(seconds=trio.current_time() - moment)

    async def keep_evidence(self) -> None:
        """Write down who has come and gone so far; what can't be written now is written with the next that happens."""
        self._changed = True
        if self._keeping:
            return
        self._keeping = True
        while self._changed:
            self._changed = False
            with suppress(JournalError), trio.move_on_after(PATIENCE):
                await self.journal.write(EvidenceKept(self.match, self.witness.so_far()))
        self._keeping = False

    async def insist(self) -> None:
        """Write what could not be written, as often as it takes. Returns when it is stored."""
        assert self._pending is not None, "something was written in vain"
        pause = SHORTEST_PAUSE
        while True:
            await trio.sleep(pause)
            try:
                # Nobody knows what became of the attempts before: found as it is, the record is stored.
                await self.journal.write(self._pending, again=True)
            except JournalError as error:
                if error.code in OURS:
                    raise
                if self._announced and error.code in REFUSALS:
                    log.error("result_not_stored", room=self.room, match=self.match, why=error.message)
                    return
            else:
                self._stored()
                return
            pause = min(2 * pause, LONGEST_PAUSE)

    def leave(self) -> None:
        """Leave what could not be written to the journal, which tries it again when it is closed."""
        if self._pending is not None:
            self.journal.leave(self._pending)

    async def _write(self, record: MatchOpened | PlyPlayed | MatchEnded) -> None:
        self._pending = record
        try:
            await self.journal.write(record, patience=PATIENCE)
        except trio.TooSlowError:
            raise self._lose(f"the database has not answered for {PATIENCE:g} s") from None
        except JournalError as error:
            if error.code in OURS:
                raise
            raise self._lose(error.message) from error
        self._stored()

    def _lose(self, why: str) -> StorageLost:
        if not self.lost:
            self.lost = True
            log.error("match_waits_for_storage", room=self.room, match=self.match, why=why)
            self.changed(why)
        return StorageLost(why)

    def _stored(self) -> None:
        self._pending = None
        if self.lost:
            self.lost = False
            log.info("match_stored_again", room=self.room, match=self.match)
            self.changed(None)
