"""What the journal stores, as frozen values, and the error it raises.

Maps and lists inside a record are plain JSON data (see ``triarena.games.core.Plain``). A record belongs to the
journal once it is handed over: do not change what is inside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
"""A JSON object."""


class JournalError(Exception):
    """The journal could not do what was asked. ``code`` is stable, ``message`` is a sentence for a person.

    Codes of writing: ``duplicate_match``, ``duplicate_ply``, ``match_ended``, ``unknown_match``, ``bad_record`` (the
    caller's fault, the database is well); ``write_failed`` (the database is lost or full; the record may or may
    not be found in it later), ``database_in_use`` (another server has opened it; nothing more can be written),
    ``journal_closed``, ``journal_failed``; ``journal_not_flushed`` (at the end, what was pending could not be saved).

    Codes of opening and reading: ``bad_url``, ``driver_missing``, ``cannot_open``, ``database_in_use``,
    ``database_too_new``, ``database_too_old``, ``no_database``, ``cannot_read``, ``unknown_match``,
    ``ambiguous_match``.
    """

    def __init__(self, code: str, message: str, cause: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.cause = message if cause is None else cause
        """What is wrong, without the place and without what to do."""


@dataclass(frozen=True, slots=True)
class MatchOpened:
    """A match is about to start: everything that is needed to replay or resume it."""

    match: str
    """The match's id: short, unique, chosen by the caller."""
    room: str
    game: str
    rules_version: int
    options: Json
    seed: int
    """Any whole number."""
    time_control: Json
    red: str
    """The name of red's player."""
    blue: str
    settings: Json
    """The settings in effect, as announced to the players."""
    at: datetime
    """Aware, in UTC."""

    def __post_init__(self) -> None:
        _require_utc(self.at)


@dataclass(frozen=True, slots=True)
class PlyPlayed:
    """One move was accepted."""

    match: str
    ply: int
    """Counted from 0."""
    side: str
    move: Json
    """The move's wire form."""
    text: str
    """The move in the game's canonical notation."""
    used_ms: float
    """Time charged to the side for this ply, milliseconds."""
    at: datetime
    """When the move arrived; aware, in UTC."""
    limit_ms: float | None = None
    """What the move could have taken; None without a clock."""
    overhead_ms: float | None = None
    """What the server took from the previous move's arrival until it asked for this one; None for the first."""
    lag_ms: float | None = None
    """The worst lag of the server's loop while it waited for the move; None where it was not measured."""

    def __post_init__(self) -> None:
        _require_utc(self.at)


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """The match is over, by the rules or by the referee."""

    match: str
    result: Json
    """The whole result as announced."""
    kind: str
    """``outcome``, ``forfeit`` or ``aborted``."""
    winner: str | None
    """``red``, ``blue``, or None for a draw or an aborted match."""
    reason: str
    at: datetime
    """Aware, in UTC."""
    evidence: Json | None = None
    """Who played from where, and for an irregular end what was last said; see ``triarena.server.evidence``."""

    def __post_init__(self) -> None:
        _require_utc(self.at)


@dataclass(frozen=True, slots=True)
class EvidenceKept:
    """What is known so far of a match that goes on, beside its plies: MatchEnded brings the rest. Takes the place of
    what was kept of it before; refused when the match has ended.
    """

    match: str
    evidence: Json
    """See ``triarena.server.evidence``."""


@dataclass(frozen=True, slots=True)
class RoomKept:
    """A room is to be there again after a restart, as it is now. Takes the place of what was kept of it before."""

    room: str
    match: str
    """The match that is, or will be, played in it: when that has ended, the room is no longer kept."""
    state: Json
    """Whatever the caller needs to open it again."""


@dataclass(frozen=True, slots=True)
class RoomForgotten:
    """A room is no more. Of one that was not kept, too: then nothing changes."""

    room: str


Record: TypeAlias = MatchOpened | PlyPlayed | MatchEnded | EvidenceKept | RoomKept | RoomForgotten


@dataclass(frozen=True, slots=True)
class StoredMatch:
    """One match as the journal knows it."""

    opened: MatchOpened
    plies: tuple[PlyPlayed, ...]
    """In the order of play."""
    ended: MatchEnded | None
    """None while the match goes on, or if the server died in it."""
    evidence: Json | None = None
    """Of a match that has not ended, what was kept so far; see EvidenceKept."""

    @property
    def match(self) -> str:
        """The match's id."""
        return self.opened.match

    @property
    def result(self) -> Json | None:
        """The result as announced, None if the match is unfinished."""
        return None if self.ended is None else self.ended.result


@dataclass(frozen=True, slots=True)
class MatchSummary:
    """One match as a line of a list."""

    match: str
    room: str
    game: str
    red: str
    blue: str
    plies: int
    """How many plies are stored."""
    kind: str | None
    """None, like ``reason`` and ``ended_at``, if the match is unfinished."""
    winner: str | None
    reason: str | None
    opened_at: datetime
    ended_at: datetime | None


def _require_utc(at: datetime) -> None:
    if at.utcoffset() != timedelta(0):
        raise ValueError(f"a record's time must be aware and in UTC, not {at!r}")
