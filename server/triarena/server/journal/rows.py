"""Records to rows and back, and the statements that write them.

A ply is inserted by selecting its match, and a match is ended by updating one that has no end: where nothing was
inserted or updated, the match is unknown or over. Primary keys refuse duplicates. So the database itself keeps the
order of things, whoever else writes to it. What is kept of a room is replaced or deleted without conditions.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import sqlalchemy as sa

from triarena.server.journal.records import (
    EvidenceKept,
    MatchEnded,
    MatchOpened,
    PlyPlayed,
    Record,
    RoomForgotten,
    RoomKept,
)
from triarena.server.journal.tables import evidence, matches, plies, rooms

Row: TypeAlias = sa.Row[Any]
Parameters: TypeAlias = dict[str, Any]


def _new(column: sa.Column[Any]) -> sa.BindParameter[Any]:
    """A parameter for a column's new value; SQLAlchemy keeps the bare column names for itself."""
    return sa.bindparam(f"new_{column.name}", type_=column.type)


_OPEN = sa.and_(matches.c.id == sa.bindparam("in_match", type_=sa.Text), matches.c.ended_at.is_(None))
_PLY_COLUMNS = [column for column in plies.c if column is not plies.c.match_id]
_END_COLUMNS = [matches.c.result, matches.c.kind, matches.c.winner, matches.c.reason, matches.c.ended_at]

# SQLAlchemy keeps the number of inserted rows only if it is asked to.
INSERT_MATCH = sa.insert(matches).execution_options(preserve_rowcount=True)
INSERT_PLY = (
    sa.insert(plies)
    .from_select([plies.c.match_id, *_PLY_COLUMNS], sa.select(matches.c.id, *map(_new, _PLY_COLUMNS)).where(_OPEN))
    .execution_options(preserve_rowcount=True)
)
END_MATCH = sa.update(matches).where(_OPEN).values({column: _new(column) for column in _END_COLUMNS})
# Both databases understand this; SQLAlchemy has a construct of its own for each.
_PUT_EVIDENCE = (
    "INSERT INTO evidence (match_id, data) VALUES (:match_id, :data)"
    " ON CONFLICT (match_id) DO UPDATE SET data = excluded.data"
)
_EVIDENCE_PARAMETERS = [sa.bindparam(column.name, type_=column.type) for column in evidence.c]
PUT_EVIDENCE = sa.text(_PUT_EVIDENCE).bindparams(*_EVIDENCE_PARAMETERS)
KEEP_EVIDENCE = sa.text(
    f"{_PUT_EVIDENCE} WHERE EXISTS (SELECT 1 FROM matches WHERE id = evidence.match_id AND ended_at IS NULL)"
).bindparams(*_EVIDENCE_PARAMETERS)
KEEP_ROOM = sa.text(
    "INSERT INTO rooms (room, match_id, state) VALUES (:room, :match_id, :state)"
    " ON CONFLICT (room) DO UPDATE SET match_id = excluded.match_id, state = excluded.state"
).bindparams(*(sa.bindparam(column.name, type_=column.type) for column in rooms.c))
FORGET_ROOM = sa.delete(rooms).where(rooms.c.room == sa.bindparam("in_room", type_=sa.Text))
# The server died after the end of a match and before it could forget the room.
FORGET_PLAYED_ROOMS = sa.delete(rooms).where(
    rooms.c.match_id.in_(sa.select(matches.c.id).where(matches.c.ended_at.is_not(None)))
)


def writing(record: Record) -> list[tuple[sa.Executable, Parameters]]:
    """The statements that write a record, with their parameters. Each must touch exactly one row, but for
    RoomForgotten.
    """
    statement, parameters = _main(record)
    if isinstance(record, MatchEnded) and record.evidence is not None:
        return [(statement, parameters), (PUT_EVIDENCE, {"match_id": record.match, "data": record.evidence})]
    return [(statement, parameters)]


def _main(record: Record) -> tuple[sa.Executable, Parameters]:
    match record:
        case PlyPlayed():
            return INSERT_PLY, {
                "in_match": record.match,
                "new_ply": record.ply,
                "new_side": record.side,
                "new_move": record.move,
                "new_text": record.text,
                "new_used_ms": record.used_ms,
                "new_played_at": record.at,
                "new_limit_ms": record.limit_ms,
                "new_overhead_ms": record.overhead_ms,
                "new_lag_ms": record.lag_ms,
            }
        case MatchOpened():
            return INSERT_MATCH, {
                "id": record.match,
                "room": record.room,
                "game": record.game,
                "rules_version": record.rules_version,
                "options": record.options,
                "seed": record.seed,
                "time_control": record.time_control,
                "red": record.red,
                "blue": record.blue,
                "settings": record.settings,
                "opened_at": record.at,
            }
        case MatchEnded():
            return END_MATCH, {
                "in_match": record.match,
                "new_result": record.result,
                "new_kind": record.kind,
                "new_winner": record.winner,
                "new_reason": record.reason,
                "new_ended_at": record.at,
            }
        case EvidenceKept():
            return KEEP_EVIDENCE, {"match_id": record.match, "data": record.evidence}
        case RoomKept():
            return KEEP_ROOM, {"room": record.room, "match_id": record.match, "state": record.state}
        case RoomForgotten():
            return FORGET_ROOM, {"in_room": record.room}


def opened(row: Row) -> MatchOpened:
    """The opening that a row of ``matches`` holds."""
    return MatchOpened(
        match=row.id,
        room=row.room,
        game=row.game,
        rules_version=row.rules_version,
        options=row.options,
        seed=row.seed,
        time_control=row.time_control,
        red=row.red,
        blue=row.blue,
        settings=row.settings,
        at=row.opened_at,
    )


def ended(connection: sa.Connection, row: Row) -> MatchEnded | None:
    """The end that a row of ``matches`` holds, with its evidence; None if it has none."""
    if row.ended_at is None:
        return None
    return MatchEnded(
        match=row.id,
        result=row.result,
        kind=row.kind,
        winner=row.winner,
        reason=row.reason,
        at=row.ended_at,
        evidence=evidence_of(connection, row.id),
    )


def evidence_of(connection: sa.Connection, match: str) -> Any:
    """What is kept of a match beside its plies, None if nothing."""
    return connection.execute(sa.select(evidence.c.data).where(evidence.c.match_id == match)).scalar_one_or_none()


def played(row: Row) -> PlyPlayed:
    """The ply that a row of ``plies`` holds."""
    return PlyPlayed(
        match=row.match_id,
        ply=row.ply,
        side=row.side,
        move=row.move,
        text=row.text,
        used_ms=row.used_ms,
        at=row.played_at,
        limit_ms=row.limit_ms,
        overhead_ms=row.overhead_ms,
        lag_ms=row.lag_ms,
    )


def kept(row: Row) -> RoomKept:
    """The room that a row of ``rooms`` holds."""
    return RoomKept(room=row.room, match=row.match_id, state=row.state)


def match_row(connection: sa.Connection, match: str) -> Row | None:
    """The row of a match, None if there is none."""
    return connection.execute(sa.select(matches).where(matches.c.id == match)).one_or_none()


def stored_as(connection: sa.Connection, record: Record) -> Record | None:
    """What the database holds in a record's place, None if nothing."""
    if isinstance(record, PlyPlayed):
        place = sa.and_(plies.c.match_id == record.match, plies.c.ply == record.ply)
        row = connection.execute(sa.select(plies).where(place)).one_or_none()
        return None if row is None else played(row)
    if isinstance(record, EvidenceKept):
        found = evidence_of(connection, record.match)
        return None if found is None else EvidenceKept(record.match, found)
    if isinstance(record, RoomKept | RoomForgotten):
        row = connection.execute(sa.select(rooms).where(rooms.c.room == record.room)).one_or_none()
        return None if row is None else kept(row)
    row = match_row(connection, record.match)
    if row is None:
        return None
    return opened(row) if isinstance(record, MatchOpened) else ended(connection, row)
