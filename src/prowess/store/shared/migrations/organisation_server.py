"""Revision 0004: policies, blocks, requests, deployments, machines and logins of an organisation."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from prowess.store.shared.row_security import ROLE, protect

revision = "0004"
down_revision = "0003"
_OF_ORGANISATION = (
    "policies",
    "blocks",
    "deployers",
    "release_files",
)  # what the organisation gives holds for each tenant


def upgrade() -> None:
    """Create the tables."""
    tables = {
        "policies": (
            sa.Column("name", sa.Text, nullable=False),
            sa.Column("number", sa.BigInteger, nullable=False),
            sa.Column("toml", sa.LargeBinary, nullable=False),
            sa.Column("by", sa.LargeBinary, nullable=False),
            sa.Column("at", sa.Text, nullable=False),
            sa.PrimaryKeyConstraint("tenant", "name"),
        ),
        "blocks": (
            sa.Column("id", sa.Text, nullable=False),
            sa.Column("subject", sa.Text, nullable=False),
            sa.Column("kind", sa.Text, nullable=False),
            sa.Column("value", sa.LargeBinary, nullable=False),
            sa.Column("reason", sa.LargeBinary, nullable=False),
            sa.Column("by", sa.LargeBinary, nullable=False),
            sa.Column("at", sa.Text, nullable=False),
            sa.PrimaryKeyConstraint("tenant", "id"),
            sa.UniqueConstraint("tenant", "subject", name="blocks_by_subject"),
        ),
        "approval_requests": (
            sa.Column("id", sa.Text, nullable=False),
            sa.Column("digest", sa.Text, nullable=False),
            sa.Column("at", sa.Text, nullable=False),
            sa.Column("body", sa.LargeBinary, nullable=False),
            sa.Column("of_person", sa.Boolean, nullable=False),
            sa.PrimaryKeyConstraint("tenant", "id"),
        ),
        "deployers": (
            sa.Column("digest", sa.Text, nullable=False),
            sa.Column("user", sa.LargeBinary, nullable=False),
            sa.PrimaryKeyConstraint("tenant", "digest", "user"),
        ),
        "release_files": (
            sa.Column("path", sa.Text, nullable=False),
            sa.Column("body", sa.LargeBinary, nullable=False),
            sa.PrimaryKeyConstraint("tenant", "path"),
        ),
        "machines": (
            sa.Column("id", sa.Text, nullable=False),
            sa.Column("name", sa.LargeBinary, nullable=False),
            sa.Column("team", sa.LargeBinary),
            sa.Column("environment", sa.LargeBinary),
            sa.Column("enrolled_at", sa.Double, nullable=False),
            sa.Column("seen_at", sa.Double, nullable=False),
            sa.Column("bundle", sa.BigInteger),
            sa.Column("state", sa.LargeBinary),
            sa.Column("log", sa.LargeBinary),
            sa.Column("inventory", sa.LargeBinary),
            sa.PrimaryKeyConstraint("tenant", "id"),
        ),
        "logins": (
            sa.Column("digest", sa.LargeBinary, nullable=False),
            sa.Column("user", sa.LargeBinary),
            sa.Column("body", sa.LargeBinary, nullable=False),
            sa.Column("token_id", sa.Text),
            sa.Column("expires_at", sa.Double, nullable=False),
            sa.PrimaryKeyConstraint("tenant", "digest"),
            sa.UniqueConstraint("digest", name="logins_by_digest"),
        ),
        "call_requests": (
            sa.Column("id", sa.Text, nullable=False),
            sa.Column("body", sa.LargeBinary, nullable=False),
            sa.Column("expires_at", sa.Double, nullable=False),
            sa.PrimaryKeyConstraint("tenant", "id"),
        ),
        "rate_limits": (
            sa.Column("key", sa.LargeBinary, nullable=False),
            sa.Column("window", sa.BigInteger, nullable=False),
            sa.Column("count", sa.BigInteger, nullable=False),
            sa.PrimaryKeyConstraint("tenant", "key", "window"),
        ),
    }
    for name, columns in tables.items():
        op.create_table(name, sa.Column("tenant", sa.Text, nullable=False), *columns)
        if op.get_bind().dialect.name == "postgresql":
            for statement in protect(name, given=name in _OF_ORGANISATION):
                op.execute(statement)
    if op.get_bind().dialect.name == "postgresql":
        # A writer of records locks the pseudonym of its user until they are there, and PostgreSQL asks for UPDATE.
        op.execute(f"GRANT UPDATE (pseudonym) ON audit_people TO {ROLE}")
    op.add_column("sessions", sa.Column("created_at", sa.Double, nullable=False, server_default="0"))
    op.create_index("sessions_by_creation", "sessions", ["tenant", "created_at"])
    op.create_index("approval_requests_by_digest", "approval_requests", ["tenant", "digest"])
    op.create_index("logins_by_expiry", "logins", ["expires_at"])
    op.create_index("audit_records_by_time", "audit_records", ["tenant", "at"])
