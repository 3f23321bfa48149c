"""How the store's records look as rows: one reader and one writer per table."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from triarena.tournament.values import Fixture, Played

from .records import NOBODYS_FAILURES, Attempt, Note, Spent, StoredResult, Tries

SELECT_TOURNAMENT: Final = "SELECT file_text, file_folder, created_at, state, why FROM tournament"
SELECT_EVENTS: Final = "SELECT slug, seed, state, why, seconds FROM events ORDER BY position"
SELECT_NOTES: Final = "SELECT at, kind, text, event, player FROM notes ORDER BY id"
_ATTEMPT: Final = (
    "event, fixture, number, started_at, state, room, match, why, ended_at, seconds, overhead_ms, red_ms, blue_ms,"
    " folder"
)
_PLAYED: Final = (
    "event, fixture, round, at_table, game, red, blue, seed, pair, winner, reason, offenders, red_score, blue_score,"
    " plies"
)
_RESULT: Final = f"{_PLAYED}, attempt, match, message, started_at, ended_at"
SELECT_ATTEMPTS: Final = f"SELECT {_ATTEMPT} FROM attempts"
SELECT_RESULTS: Final = f"SELECT {_RESULT} FROM results"
SELECT_PLAYED: Final = f"SELECT {_PLAYED} FROM results"
SELECT_TRIES: Final = (
    "SELECT event, sum(state = 'running'),"
    f" sum(state = 'failed' AND why NOT IN ({', '.join('?' * len(NOBODYS_FAILURES))})),"
    " count(iif(state = 'played' AND match <> '', seconds, NULL)),"
    " total(iif(state = 'played' AND match <> '', seconds, NULL)),"
    " max(CAST(fixture AS INTEGER)) FROM attempts GROUP BY event"  # of an id it takes what is before the first point
)
"""To be given NOBODYS_FAILURES."""
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
    attempt, match, message, started_at, ended_at = row[15:]
    started, ended = datetime.fromisoformat(started_at), datetime.fromisoformat(ended_at)
    return StoredResult(row[0], read_played(row[:15]), attempt, match, message, started, ended)


def read_played(row: tuple[Any, ...], words: dict[str, str] | None = None) -> Played:
    """From ``SELECT_PLAYED``. What is equal to one of ``words`` is held once only; they are added to."""
    _, _, round_, table, game, red, blue, seed, pair, winner, reason, offenders, red_score, blue_score, plies = row
    if words is not None:
        red, blue, reason = (words.setdefault(word, word) for word in (red, blue, reason))
        winner = winner and words.setdefault(winner, winner)
    fixture = Fixture(round_, table, game, red, blue, seed, pair)
    forfeited = tuple(offenders.split(",")) if offenders else ()
    # Where both forfeited for different reasons, a reason stands for each of them.
    reasons = tuple(reason.split(",")) if "," in reason else ()
    return Played(fixture, winner, "no_show" if reasons else reason, forfeited, red_score, blue_score, plies, reasons)


def read_tries(row: tuple[Any, ...]) -> tuple[str, Tries]:
    """From ``SELECT_TRIES``: the event's slug, and its attempts."""
    event, *counts = row
    return event, Tries(*counts)


def read_note(row: tuple[Any, ...]) -> Note:
    """From ``SELECT_NOTES``."""
    at, kind, text, event, player = row
    return Note(datetime.fromisoformat(at), kind, text, event, player)
