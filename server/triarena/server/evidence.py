"""What is kept of a match beside its moves, for whoever has to judge it: who played from where, and last words.

The evidence of a match is JSON data::

    {"red": {"visits": [{"connection": "7", "address": "192.0.2.1", "software": "ada 1.2",
                         "since": "2031-05-04T12:30:15.123+00:00", "until": ..., "why": "the connection broke"}],
             "frames": {"from_client": [...], "to_client": [...]}},
     "blue": {...},
     "last_turn": {"side": "red", "ply": 12, "asked_at": ..., "arrived_at": None, "answered": False,
                   "used_ms": 2050.0, "limit_ms": 2000.0, "overhead_ms": 0.3, "lag_ms": 1.2},
     "restarts": [{"at": ..., "ply": 7}],
     "pauses": [{"at": ..., "until": ..., "ply": 9, "by": "administrator", "address": "192.0.2.7"}]}

``restarts`` tell when the server opened the match again after it had stopped or died, and before which ply; of visits
that were under way then nobody knows until when. ``pauses`` tell who paused the match when, before which ply, and until
when (None: it is paused still). ``last_turn`` is the turn in which the match ended, if it ended in
one: its ply is not among those that were played. ``visits`` are a seat's connections, the latest last. ``frames`` (see
``transcript``) are those of the latest one, and kept only where the match did not end by its own rules.

It is complete when the match has ended; before, it is kept whenever somebody has come or gone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import trio

from triarena.games import Side
from triarena.protocol.values import Result

from .journal import StoredMatch
from .seat import Line
from .transcript import Transcript

KEPT_VISITS = 8
"""Of each side: who comes and goes more often is known well enough."""
STOPPED = "the server stopped or died"
"""Why a visit ended of which nobody saw the end."""
KEPT_RESTARTS = 64
KEPT_PAUSES = 64


@dataclass(slots=True)
class Visit:
    """A connection over which a side played."""

    connection: str
    address: str
    software: str
    since: datetime
    transcript: Transcript | None
    until: datetime | None = None
    why: str | None = None
    """Why it ended."""

    def told(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "connection": self.connection,
            "address": self.address,
            "software": self.software,
            "since": _iso(self.since),
            "until": None if self.until is None else _iso(self.until),
            "why": self.why,
        }

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Visit:
        """From JSON data, after a restart: what was said is gone, and so is whoever said it."""
        until, why = told["until"], told["why"]
        return cls(
            told["connection"],
            told["address"],
            told["software"],
            datetime.fromisoformat(told["since"]),
            None,
            None if until is None else datetime.fromisoformat(until),
            STOPPED if until is None and why is None else why,
        )


def _visits() -> dict[Side, deque[Visit]]:
    return {side: deque(maxlen=KEPT_VISITS) for side in Side}


@dataclass(slots=True)
class Witness:
    """Sees who comes and goes in a match."""

    now: Callable[[], datetime]
    _visits: dict[Side, deque[Visit]] = field(default_factory=_visits)
    _restarts: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=KEPT_RESTARTS))
    _pauses: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=KEPT_PAUSES))

    def resumed(self, kept: Mapping[str, Any], ply: int) -> None:
        """The server has been started again before that ply; ``kept`` is what ``so_far`` told before."""
        for side, visits in self._visits.items():
            visits.extend(Visit.of(told) for told in kept.get(side.value, {}).get("visits", ()))
        self._pauses.extend(dict(pause) for pause in kept.get("pauses", ()))
        self._restarts.extend(kept.get("restarts", ()))
        self._restarts.append({"at": _iso(self.now()), "ply": ply})

    def so_far(self) -> dict[str, Any]:
        """What is to be kept of a match that goes on."""
        told: dict[str, Any] = {
            side.value: {"visits": [visit.told() for visit in visits]} for side, visits in self._visits.items()
        }
        if self._restarts:
            told["restarts"] = list(self._restarts)
        if self._pauses:
            told["pauses"] = [dict(pause) for pause in self._pauses]
        return told

    def paused(self, ply: int, address: str) -> None:
        """An administrator there has paused the match before that ply."""
        self._pauses.append(
            {"at": _iso(self.now()), "until": None, "ply": ply, "by": "administrator", "address": address}
        )

    def went_on(self) -> None:
        """The match goes on."""
        if self._pauses and self._pauses[-1]["until"] is None:
            self._pauses[-1]["until"] = _iso(self.now())

    def came(self, side: Side, line: Line, software: str) -> None:
        """A side has a connection (again): from now on it is listened to."""
        visits = self._visits[side]
        if visits:
            visits[-1].transcript = None
        visits.append(Visit(line.number, line.address, software, self.now(), line.transcribe()))

    def first(self, side: Side) -> dict[str, Any]:
        """Over which connection, and from where, a side plays at the start; nothing if it has gone already."""
        visits = self._visits[side]
        return {"connection": visits[0].connection, "address": visits[0].address} if visits else {}

    def went(self, side: Side, why: str) -> None:
        """A side's connection is over."""
        visits = self._visits[side]
        if visits and visits[-1].until is None:
            visits[-1].until, visits[-1].why = self.now(), why

    def evidence(self, result: Result, last_turn: dict[str, Any] | None) -> dict[str, Any]:
        """All that is to be kept of a match that ended so."""
        irregular = result.kind != "outcome" and result.reason != "ply_limit"
        now, moment = self.now(), trio.current_time()

        def when(at: float) -> datetime:
            return now - timedelta(seconds=moment - at)

        told = self.so_far()
        for side, visits in self._visits.items():
            if irregular and visits and visits[-1].transcript is not None:
                told[side.value]["frames"] = visits[-1].transcript.told(when)
        return told if last_turn is None else {**told, "last_turn": last_turn}


def known_evidence(stored: StoredMatch) -> dict[str, Any]:
    """What is known of a stored match, whether or not it has ended; at least what its opening tells."""
    kept = stored.evidence if stored.ended is None else stored.ended.evidence
    if kept is not None:
        return kept
    seats: dict[str, Any] = stored.opened.settings.get("seats", {})
    return {
        side: {
            "visits": [
                {
                    "connection": seat["connection"],
                    "address": seat["address"],
                    "software": seat["software"],
                    "since": _iso(stored.opened.at),
                    "until": None,
                    "why": None,
                }
            ]
        }
        for side, seat in seats.items()
        if "connection" in seat
    }


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")
