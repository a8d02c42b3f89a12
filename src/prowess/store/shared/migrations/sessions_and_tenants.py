"""Revision 0001: sessions, events, tenants, tokens, generations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from prowess.store.shared.row_security import MAKE_ROLE, protect

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "sessions",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("session_id", sa.LargeBinary, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("state", sa.LargeBinary, nullable=False),
        sa.Column("touched_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "session_id"),
    )
    op.create_index("sessions_by_age", "sessions", ["tenant", "touched_at"])
    op.create_table(
        "events",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("session_id", sa.LargeBinary, nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "session_id", "sequence"),
    )
    op.create_index("events_by_age", "events", ["tenant", "at"])
    op.create_table(
        "organisations",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("public_key", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("tenant"),
    )
    op.create_table(
        "tenants",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("tenant"),
    )
    op.create_table(
        "generations",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("generation", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant"),
    )
    op.create_table(
        "tokens",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("user", sa.LargeBinary, nullable=False),
        sa.Column("team", sa.LargeBinary),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("expires_at", sa.Double),
        sa.Column("used_at", sa.Double),
        sa.PrimaryKeyConstraint("tenant", "id"),
        sa.UniqueConstraint("digest", name="tokens_by_digest"),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute(MAKE_ROLE)
        for table in ("sessions", "events", "tenants", "tokens"):
            for statement in protect(table):
                op.execute(statement)
        for table in ("organisations", "generations"):
            for statement in protect(table, given=True):
                op.execute(statement)
