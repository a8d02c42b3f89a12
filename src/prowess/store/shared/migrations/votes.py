"""Revision 0002: votes of people about skills, which nobody may change."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from prowess.store.shared.row_security import protect

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "votes",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "number"),
    )
    if op.get_bind().dialect.name == "postgresql":
        for statement in protect("votes", grants="SELECT, INSERT"):
            op.execute(statement)
