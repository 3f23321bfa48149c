"""What a disputed match is judged by: the times around each ply, and the evidence kept at its end."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TIMES = ("limit_ms", "overhead_ms", "lag_ms")


def upgrade() -> None:
    """Add the columns and the table."""
    for name in _TIMES:
        op.add_column("plies", sa.Column(name, sa.Double))
    op.create_table(
        "evidence",
        sa.Column("match_id", sa.Text, sa.ForeignKey("matches.id", name="fk_evidence_match"), primary_key=True),
        sa.Column("data", sa.JSON, nullable=False),
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_table("evidence")
    for name in reversed(_TIMES):
        op.drop_column("plies", name)
