"""How the store's records look as rows: one reader and one writer per table."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from triarena.tournament.values import Fixture, Played

from .records import Attempt, Note, Spent, StoredResult

SELECT_EVENTS: Final = "SELECT slug, seed, state, why, seconds FROM events ORDER BY position"
SELECT_NOTES: Final = "SELECT at, kind, text, event, player FROM notes ORDER BY id"
_ATTEMPT: Final = (
    "event, fixture, number, started_at, state, room, match, why, ended_at, seconds, overhead_ms, red_ms, blue_ms,"
    " folder"
)
_RESULT: Final = (
    "event, fixture, round, at_table, game, red, blue, seed, pair, winner, reason, offenders, red_score, blue_score,"
    " plies, attempt, match, message, started_at, ended_at"
)
SELECT_ATTEMPTS: Final = f"SELECT {_ATTEMPT} FROM attempts"
SELECT_RESULTS: Final = f"SELECT {_RESULT} FROM results"
INSERT_ATTEMPT: Final = f"INSERT INTO attempts ({_ATTEMPT}) VALUES ({', '.join('?' * 14)})"
INSERT_RESULT: Final = f"INSERT INTO results ({_RESULT}) VALUES ({', '.join('?' * 20)})"


def moment(at: datetime) -> str:
    """A moment as it is stored: in UTC. Raises ValueError for a time without a zone."""
    if at.tzinfo is None:
        raise ValueError(f"{at} has no time zone")
    return at.astimezone(UTC).isoformat()


def write_attempt(attempt: Attempt) -> tuple[object, ...]:
    """For ``INSERT_ATTEMPT``."""
    spent = attempt.spent
    return (
        *(attempt.event, attempt.fixture, attempt.number, moment(attempt.started_at), attempt.state),
        *(attempt.room, attempt.match, attempt.why, attempt.ended_at and moment(attempt.ended_at)),
        *(spent.seconds, spent.overhead_ms, spent.red_ms, spent.blue_ms, attempt.folder),
    )


def read_attempt(row: tuple[Any, ...]) -> Attempt:
    """From ``SELECT_ATTEMPTS``."""
    event, fixture, number, started_at, state, room, match, why, ended_at, *spent, folder = row
    ended = None if ended_at is None else datetime.fromisoformat(ended_at)
    started = datetime.fromisoformat(started_at)
    return Attempt(event, fixture, number, started, state, room, match, why, ended, Spent(*spent), folder)


def write_result(result: StoredResult) -> tuple[object, ...]:
    """For ``INSERT_RESULT``."""
    played, fixture = result.played, result.played.fixture
    return (
        *(result.event, fixture.id, fixture.round, fixture.table, fixture.number),
        *(fixture.red, fixture.blue, fixture.seed, fixture.pair),
        *(played.winner, ",".join(played.reasons) or played.reason, ",".join(played.offenders)),
        *(float(played.red_score), float(played.blue_score), played.plies),
        *(result.attempt, result.match, result.message, moment(result.started_at), moment(result.ended_at)),
    )


def read_result(row: tuple[Any, ...]) -> StoredResult:
    """From ``SELECT_RESULTS``."""
    event, _, round_, table, game, red, blue, seed, pair, winner, reason, offenders, red_score, blue_score, *rest = row
    plies, attempt, match, message, started_at, ended_at = rest
    fixture = Fixture(round_, table, game, red, blue, seed, pair)
    forfeited = tuple(offenders.split(",")) if offenders else ()
    # Where both forfeited for different reasons, a reason stands for each of them.
    reasons = tuple(reason.split(",")) if "," in reason else ()
    played = Played(fixture, winner, "no_show" if reasons else reason, forfeited, red_score, blue_score, plies, reasons)
    started, ended = datetime.fromisoformat(started_at), datetime.fromisoformat(ended_at)
    return StoredResult(event, played, attempt, match, message, started, ended)


def read_note(row: tuple[Any, ...]) -> Note:
    """From ``SELECT_NOTES``."""
    at, kind, text, event, player = row
    return Note(datetime.fromisoformat(at), kind, text, event, player)
