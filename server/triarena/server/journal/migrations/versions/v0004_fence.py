"""The number of the server that may write."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table with its one row."""
    table = op.create_table("fence", sa.Column("number", sa.BigInteger, nullable=False))
    op.bulk_insert(table, [{"number": 0}])


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("fence")
