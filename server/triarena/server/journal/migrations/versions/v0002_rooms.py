"""Rooms that are there again after a restart."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "rooms",
        sa.Column("room", sa.Text, primary_key=True),
        sa.Column("match_id", sa.Text, nullable=False),
        sa.Column("state", sa.JSON, nullable=False),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("rooms")
