"""Revision 0003: the audit log of each tenant, with its inbox, tiles and pseudonyms."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from prowess.store.shared.row_security import protect

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "audit_inbox",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("person", sa.Text),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "id"),
    )
    op.create_table(
        "audit_records",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("person", sa.Text),
        sa.Column("leaf", sa.LargeBinary, nullable=False),
        sa.Column("body", sa.LargeBinary),
        sa.PrimaryKeyConstraint("tenant", "sequence"),
        sa.UniqueConstraint("tenant", "id", name="audit_records_by_id"),
    )
    op.create_index("audit_records_by_person", "audit_records", ["tenant", "person"])
    op.create_table(
        "audit_tiles",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("level", sa.BigInteger, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("hashes", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "level", "number"),
    )
    op.create_table(
        "audit_logs",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("last", sa.Text),
        sa.Column("checkpoint", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("tenant"),
    )
    op.create_table(
        "audit_people",
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("pseudonym", sa.Text, nullable=False),
        sa.Column("user", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "pseudonym"),
        sa.UniqueConstraint("tenant", "user", name="audit_people_by_user"),
    )
    if op.get_bind().dialect.name == "postgresql":
        for table, grants in (
            ("audit_inbox", "SELECT, INSERT, DELETE"),
            ("audit_records", "SELECT, INSERT, UPDATE (body)"),
            ("audit_tiles", "SELECT, INSERT, UPDATE"),
            ("audit_logs", "SELECT, INSERT, UPDATE"),
            ("audit_people", "SELECT, INSERT, DELETE"),
        ):
            for statement in protect(table, grants=grants):
                op.execute(statement)
