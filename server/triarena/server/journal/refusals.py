"""Why a record was not saved, each as a sentence with its code: the record's own fault, or the database's.

``place`` is the database as a message may show it.
"""

from __future__ import annotations

import json
from dataclasses import asdict

import sqlalchemy as sa
from sqlalchemy import exc

from triarena.server.journal import database, rows
from triarena.server.journal.records import (
    JournalError,
    MatchEnded,
    MatchOpened,
    PlyPlayed,
    Record,
    RoomForgotten,
    RoomKept,
)
from triarena.server.journal.sqlite_log import WRITTEN


def moved(place: str) -> JournalError:
    """That the database's file is not where it was opened."""
    return JournalError(
        "write_failed",
        f"The journal {place} was moved or deleted while the server used it; put the file back, "
        "the server tries again with the next record.",
        "the file was moved or deleted; put it back",
    )


def log_deleted(place: str, why: str) -> JournalError:
    """That somebody deleted SQLite's log, and ``why`` what was in it can't be saved."""
    advice = "Take that out of the way, and do not stop the server before it is saved"
    if why == WRITTEN:
        advice = "Stop the server, and look at what is there"
    return JournalError(
        "write_failed",
        f"Somebody has deleted or replaced the -wal or -shm file of the journal {place}, and what was in it "
        f"can't be saved yet: {why}. {advice}.",
        f"its -wal or -shm file was deleted: {why}",
    )


def unwritable(place: str, error: exc.DBAPIError) -> JournalError:
    """That the database takes nothing, in the driver's words."""
    cause = database.cause(error)
    return JournalError(
        "write_failed",
        f"The journal in {place} cannot be written: {cause}; "
        "make room or bring the database back, the server tries again with the next record.",
        cause,
    )


def same(stored: Record, record: Record) -> bool:
    """Whether a record stands in the database as it is."""
    # As text, since a tuple inside a record comes back as a list.
    stored_text, text = (json.dumps(asdict(value), default=str, sort_keys=True) for value in (stored, record))
    return stored_text == text


def refused(connection: sa.Connection, record: Record) -> JournalError:
    """Why a record that touched no row was refused."""
    if isinstance(record, RoomKept | RoomForgotten):
        return bad_record(record, ValueError("no row was written"))
    already = rows.stored_as(connection, record)
    match record, already:
        case MatchOpened(), MatchOpened():
            message = f"Match {record.match} is in the journal already; a new match needs an id of its own."
            return JournalError("duplicate_match", message)
        case PlyPlayed(), PlyPlayed():
            message = f"Ply {record.ply} of match {record.match} is in the journal already; what stands there stays."
            return JournalError("duplicate_ply", message)
        case MatchEnded(), MatchEnded():
            message = f"Match {record.match} has ended already ({already.kind}, {already.reason}); its result stays."
            return JournalError("match_ended", message)
        case _:
            pass
    row = rows.match_row(connection, record.match)
    if row is None:
        return JournalError("unknown_match", f"Match {record.match} is not in the journal; open it first.")
    if row.ended_at is not None:
        return JournalError("match_ended", f"Match {record.match} has ended; no ply can be added to it.")
    return bad_record(record, ValueError("a field is missing"))


def bad_record(record: Record, error: BaseException) -> JournalError:
    """That a record can't be stored as it is, whatever the database does."""
    name = type(record).__name__
    about = f"room {record.room}" if isinstance(record, RoomKept | RoomForgotten) else f"match {record.match}"
    message = f"A {name} of {about} cannot be stored: {database.cause(error)}; this is a programming error."
    return JournalError("bad_record", message)
