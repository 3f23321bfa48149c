"""Reading the journal, also while a server writes to it. Blocks; never creates or changes a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import exc

from triarena.server.journal import database, rows, schema
from triarena.server.journal.records import JournalError, MatchSummary, RoomKept, StoredMatch
from triarena.server.journal.tables import matches, plies, rooms

_AMBIGUOUS_SHOWN = 5


def list_matches(
    url: str,
    *,
    limit: int = 20,
    game: str | None = None,
    player: str | None = None,
    finished: bool | None = None,
) -> list[MatchSummary]:
    """The latest matches, newest first: at most ``limit``, of one game, of one player's name on either side,
    only the finished or only the unfinished ones.

    Raises JournalError ``bad_url``, ``driver_missing``, ``no_database``, ``database_too_old``, ``database_too_new``
    or ``cannot_read``.
    """
    count = sa.select(sa.func.count()).where(plies.c.match_id == matches.c.id).scalar_subquery()
    query = sa.select(matches, count.label("plies")).order_by(matches.c.opened_at.desc(), matches.c.id).limit(limit)
    if game is not None:
        query = query.where(matches.c.game == game)
    if player is not None:
        query = query.where(sa.or_(matches.c.red == player, matches.c.blue == player))
    if finished is not None:
        query = query.where(matches.c.ended_at.is_not(None) if finished else matches.c.ended_at.is_(None))
    with _reading(url) as connection:
        return [_summary(row) for row in connection.execute(query)]


def read_match(url: str, match: str) -> StoredMatch:
    """The match with this id, or else the one whose id begins with it.

    Raises JournalError ``unknown_match`` or ``ambiguous_match``, and those of ``list_matches``.
    """
    with _reading(url) as connection:
        row = rows.match_row(connection, match) or rows.match_row(connection, _only_id(connection, match))
        if row is None:
            raise JournalError("unknown_match", f"Match {match!r} has just vanished from the journal.")
        return _stored(connection, row)


def ended_since(url: str, moment: datetime, limit: int) -> list[StoredMatch]:
    """The matches that ended at ``moment`` or later, the newest first, at most ``limit``; with their plies.

    Raises what ``list_matches`` raises.
    """
    query = sa.select(matches).where(matches.c.ended_at >= moment).order_by(matches.c.ended_at.desc()).limit(limit)
    with _reading(url) as connection:
        return [_stored(connection, row) for row in connection.execute(query).all()]


def kept_rooms(url: str) -> list[RoomKept]:
    """The rooms that are to be open again after a restart, by name; not those whose match has ended.

    Raises what ``list_matches`` raises.
    """
    query = sa.select(rooms).outerjoin(matches, matches.c.id == rooms.c.match_id).where(matches.c.ended_at.is_(None))
    with _reading(url) as connection:
        return [rows.kept(row) for row in connection.execute(query.order_by(rooms.c.room))]


def _stored(connection: sa.Connection, row: rows.Row) -> StoredMatch:
    played = connection.execute(sa.select(plies).where(plies.c.match_id == row.id).order_by(plies.c.ply))
    so_far = rows.evidence_of(connection, row.id) if row.ended_at is None else None
    return StoredMatch(rows.opened(row), tuple(map(rows.played, played)), rows.ended(connection, row), so_far)


def _only_id(connection: sa.Connection, prefix: str) -> str:
    found: list[str] = []
    if prefix:
        # Not LIKE: SQLite's ignores case, and ids may hold its wildcards.
        begins = sa.func.substr(matches.c.id, 1, len(prefix)) == prefix
        query = sa.select(matches.c.id).where(begins).order_by(matches.c.id).limit(_AMBIGUOUS_SHOWN + 1)
        found.extend(connection.execute(query).scalars())
    if not found:
        message = f"No match in the journal has the id {prefix!r} or one that begins so; see `triarena matches`."
        raise JournalError("unknown_match", message)
    if len(found) > 1:
        some = ", ".join(found[:_AMBIGUOUS_SHOWN]) + (", ..." if len(found) > _AMBIGUOUS_SHOWN else "")
        message = f"Several matches have an id that begins with {prefix!r}: {some}; write more of it."
        raise JournalError("ambiguous_match", message)
    return found[0]


@contextmanager
def _reading(url: str) -> Iterator[sa.Connection]:
    parsed = database.parse_url(url)
    place = database.shown(parsed)
    if parsed.get_backend_name() == "sqlite" and not Path(str(parsed.database)).is_file():
        message = f"There is no journal at {place}; a server makes it at its first start, or name another database."
        raise JournalError("no_database", message)
    try:
        with database.engine(parsed, "ro").connect() as connection:
            schema.require_current(connection, place)
            yield connection
    except exc.SQLAlchemyError as error:
        message = f"The journal in {place} cannot be read: {database.cause(error)}; check the database setting."
        raise JournalError("cannot_read", message) from error


def _summary(row: rows.Row) -> MatchSummary:
    return MatchSummary(
        match=row.id,
        room=row.room,
        game=row.game,
        red=row.red,
        blue=row.blue,
        plies=row.plies,
        kind=row.kind,
        winner=row.winner,
        reason=row.reason,
        opened_at=row.opened_at,
        ended_at=row.ended_at,
    )
