"""What is kept of a match beside its moves, for whoever has to judge it: who played from where, and last words.

The evidence of a match is JSON data::

    {"red": {"visits": [{"connection": "7", "address": "192.0.2.1", "software": "ada 1.2",
                         "since": "2031-05-04T12:30:15.123+00:00", "until": ..., "why": "the connection broke"}],
             "frames": {"from_client": [...], "to_client": [...]}},
     "blue": {...},
     "last_turn": {"side": "red", "ply": 12, "asked_at": ..., "arrived_at": None, "answered": False,
                   "used_ms": 2050.0, "limit_ms": 2000.0, "overhead_ms": 0.3, "lag_ms": 1.2}}

``last_turn`` is the turn in which the match ended, if it ended in one: its ply is not among those that were played.
``visits`` are a seat's connections, the latest last. ``frames`` (see ``transcript``) are those of the latest one, and
kept only where the match did not end by its own rules.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import trio

from triarena.games import Side
from triarena.protocol.values import Result

from .seat import Line
from .transcript import Transcript

KEPT_VISITS = 8
"""Of each side: who comes and goes more often is known well enough."""


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


def _visits() -> dict[Side, deque[Visit]]:
    return {side: deque(maxlen=KEPT_VISITS) for side in Side}


@dataclass(slots=True)
class Witness:
    """Sees who comes and goes in a match."""

    now: Callable[[], datetime]
    _visits: dict[Side, deque[Visit]] = field(default_factory=_visits)

    def came(self, side: Side, line: Line, software: str) -> None:
        """A side has a connection (again): from now on it is listened to."""
        visits = self._visits[side]
        if visits:
            visits[-1].transcript = None
        visits.append(Visit(line.number, line.address, software, self.now(), line.transcribe()))

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

        told = {side.value: _side(visits, when if irregular else None) for side, visits in self._visits.items()}
        return told if last_turn is None else {**told, "last_turn": last_turn}


def _side(visits: deque[Visit], when: Callable[[float], datetime] | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "visits": [
            {
                "connection": visit.connection,
                "address": visit.address,
                "software": visit.software,
                "since": visit.since.isoformat(timespec="milliseconds"),
                "until": None if visit.until is None else visit.until.isoformat(timespec="milliseconds"),
                "why": visit.why,
            }
            for visit in visits
        ]
    }
    if when is not None and visits and visits[-1].transcript is not None:
        told["frames"] = visits[-1].transcript.told(when)
    return told
