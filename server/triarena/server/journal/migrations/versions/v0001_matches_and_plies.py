"""The first tables: matches and their plies."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create both tables. Types are spelt out here: this script must not follow later changes of ``tables``."""
    op.create_table(
        "matches",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("room", sa.Text, nullable=False),
        sa.Column("game", sa.Text, nullable=False),
        sa.Column("rules_version", sa.Integer, nullable=False),
        sa.Column("options", sa.JSON, nullable=False),
        sa.Column("seed", sa.Text, nullable=False),
        sa.Column("time_control", sa.JSON, nullable=False),
        sa.Column("red", sa.Text, nullable=False),
        sa.Column("blue", sa.Text, nullable=False),
        sa.Column("settings", sa.JSON, nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("result", sa.JSON),
        sa.Column("kind", sa.Text),
        sa.Column("winner", sa.Text),
        sa.Column("reason", sa.Text),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
    )
    op.create_index("ix_matches_opened_at", "matches", ["opened_at"])
    op.create_index("ix_matches_ended_at", "matches", ["ended_at"])
    op.create_table(
        "plies",
        sa.Column("match_id", sa.Text, sa.ForeignKey("matches.id", name="fk_plies_match"), primary_key=True),
        sa.Column("ply", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("side", sa.Text, nullable=False),
        sa.Column("move", sa.JSON, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("used_ms", sa.Double, nullable=False),
        sa.Column("played_at", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    """Drop both tables."""
    op.drop_table("plies")
    op.drop_table("matches")
