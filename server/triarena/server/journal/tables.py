"""The tables of the journal. A change here needs a script in ``migrations/versions`` (a test compares them)."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa


class UtcDateTime(sa.TypeDecorator[datetime]):
    """Aware times in UTC, also in SQLite, which keeps no time zone."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """An aware time in UTC, whatever zone the database session is in."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class WholeNumber(sa.TypeDecorator[int]):
    """An ``int`` of any size as decimal digits: a seed may use all 64 bits, which no SQL integer type holds."""

    impl = sa.Text()
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: sa.Dialect) -> str | None:
        """The digits."""
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> int | None:
        """The number."""
        return None if value is None else int(value)


metadata = sa.MetaData()

matches = sa.Table(
    "matches",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("room", sa.Text, nullable=False),
    sa.Column("game", sa.Text, nullable=False),
    sa.Column("rules_version", sa.Integer, nullable=False),
    sa.Column("options", sa.JSON, nullable=False),
    sa.Column("seed", WholeNumber, nullable=False),
    sa.Column("time_control", sa.JSON, nullable=False),
    sa.Column("red", sa.Text, nullable=False),
    sa.Column("blue", sa.Text, nullable=False),
    sa.Column("settings", sa.JSON, nullable=False),
    sa.Column("opened_at", UtcDateTime, nullable=False),
    # Null until the match is over.
    sa.Column("result", sa.JSON(none_as_null=True)),
    sa.Column("kind", sa.Text),
    sa.Column("winner", sa.Text),
    sa.Column("reason", sa.Text),
    sa.Column("ended_at", UtcDateTime),
    sa.Index("ix_matches_opened_at", "opened_at"),
    sa.Index("ix_matches_ended_at", "ended_at"),  # recovery asks for the unfinished ones
)

plies = sa.Table(
    "plies",
    metadata,
    sa.Column("match_id", sa.Text, sa.ForeignKey("matches.id", name="fk_plies_match"), primary_key=True),
    sa.Column("ply", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("side", sa.Text, nullable=False),
    sa.Column("move", sa.JSON, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("used_ms", sa.Double, nullable=False),
    sa.Column("played_at", UtcDateTime, nullable=False),
    # What the referee knew about time; null in plies that an older program wrote.
    sa.Column("limit_ms", sa.Double),
    sa.Column("overhead_ms", sa.Double),
    sa.Column("lag_ms", sa.Double),
)

# Apart from the matches, since it is large and seldom read.
evidence = sa.Table(
    "evidence",
    metadata,
    sa.Column("match_id", sa.Text, sa.ForeignKey("matches.id", name="fk_evidence_match"), primary_key=True),
    sa.Column("data", sa.JSON, nullable=False),
)

rooms = sa.Table(
    "rooms",
    metadata,
    sa.Column("room", sa.Text, primary_key=True),
    # No foreign key: the match may not have begun.
    sa.Column("match_id", sa.Text, nullable=False),
    sa.Column("state", sa.JSON, nullable=False),
)

# One row: how often a server has opened the database, see ``journal.fence``.
fence = sa.Table("fence", metadata, sa.Column("number", sa.BigInteger, nullable=False))
