"""Tables of the shared store, the same for PostgreSQL and SQLite. `migrations` creates them.

Every table has a column `tenant`. Rows of the organisation have the tenant `*`. Texts that may contain NUL, which
TEXT of PostgreSQL cannot hold, are stored as bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

if TYPE_CHECKING:
    from sqlalchemy import Dialect

METADATA = MetaData()


class AnyText(TypeDecorator[str]):
    """A text with any characters, as UTF-8 bytes."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        """Encode a value for the database."""
        del dialect
        return None if value is None else value.encode("utf-8", "surrogatepass")

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        """Decode a value of the database."""
        del dialect
        return None if value is None else bytes(value).decode("utf-8", "surrogatepass")


SESSIONS = Table(
    "sessions",
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("session_id", AnyText, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("state", AnyText, nullable=False),
    Column("touched_at", Double, nullable=False),
    Column("created_at", Double, nullable=False, server_default="0"),  # 0 of those before revision 0004
    PrimaryKeyConstraint("tenant", "session_id"),
    Index("sessions_by_age", "tenant", "touched_at"),
    Index("sessions_by_creation", "tenant", "created_at"),
)

EVENTS = Table(
    "events",
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("session_id", AnyText, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("at", Double, nullable=False),
    Column("body", AnyText, nullable=False),
    PrimaryKeyConstraint("tenant", "session_id", "sequence"),
    Index("events_by_age", "tenant", "at"),
)

ORGANISATIONS = Table(
    "organisations",  # one row
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("public_key", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    PrimaryKeyConstraint("tenant"),
)

TENANTS = Table(
    "tenants",
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    PrimaryKeyConstraint("tenant"),
)

GENERATIONS = Table(
    "generations",
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("generation", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant"),
)

VOTES = Table(
    "votes",
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("body", AnyText, nullable=False),
    PrimaryKeyConstraint("tenant", "number"),
)

TOKENS = Table(
    "tokens",
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("role", Text, nullable=False),
    Column("user", AnyText, nullable=False),
    Column("team", AnyText),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double),
    Column("used_at", Double),
    PrimaryKeyConstraint("tenant", "id"),
    UniqueConstraint("digest", name="tokens_by_digest"),
)

AUDIT_INBOX = Table(
    "audit_inbox",  # records that have no place in the log yet
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("person", Text),
    Column("body", LargeBinary, nullable=False),
    PrimaryKeyConstraint("tenant", "id"),
)

AUDIT_RECORDS = Table(
    "audit_records",  # the log; `leaf` is a hash of `body` and stays if the body is erased
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("id", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("person", Text),
    Column("leaf", LargeBinary, nullable=False),
    Column("body", LargeBinary),
    PrimaryKeyConstraint("tenant", "sequence"),
    UniqueConstraint("tenant", "id", name="audit_records_by_id"),
    Index("audit_records_by_person", "tenant", "person"),
    Index("audit_records_by_time", "tenant", "at"),
)

AUDIT_TILES = Table(
    "audit_tiles",
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("level", BigInteger, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("hashes", LargeBinary, nullable=False),
    PrimaryKeyConstraint("tenant", "level", "number"),
)

AUDIT_LOGS = Table(
    "audit_logs",  # the end of the log of a tenant
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("last", Text),
    Column("checkpoint", AnyText, nullable=False),
    PrimaryKeyConstraint("tenant"),
)

AUDIT_PEOPLE = Table(
    "audit_people",  # the names of users whom the log knows by a pseudonym only
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("pseudonym", Text, nullable=False),
    Column("user", AnyText, nullable=False),
    PrimaryKeyConstraint("tenant", "pseudonym"),
    UniqueConstraint("tenant", "user", name="audit_people_by_user"),
)

POLICIES = Table(
    "policies",  # the text of each policy that holds; those of the organisation hold for every tenant
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("toml", AnyText, nullable=False),
    Column("by", AnyText, nullable=False),
    Column("at", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "name"),
)

BLOCKS = Table(
    "blocks",
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("subject", Text, nullable=False),  # a digest of kind and value, which are too long for an index
    Column("kind", Text, nullable=False),
    Column("value", AnyText, nullable=False),
    Column("reason", AnyText, nullable=False),
    Column("by", AnyText, nullable=False),
    Column("at", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "id"),
    UniqueConstraint("tenant", "subject", name="blocks_by_subject"),
)

APPROVAL_REQUESTS = Table(
    "approval_requests",  # questions to people; `body` is JSON with what they are shown
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("body", AnyText, nullable=False),
    Column("of_person", Boolean, nullable=False),
    PrimaryKeyConstraint("tenant", "id"),
    Index("approval_requests_by_digest", "tenant", "digest"),
)

DEPLOYERS = Table(
    "deployers",  # who deployed the skill with a tree digest; those of the organisation are seen by each tenant
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("user", AnyText, nullable=False),
    PrimaryKeyConstraint("tenant", "digest", "user"),
)

RELEASE_FILES = Table(
    "release_files",  # the files of a deployment: metadata and archives
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    PrimaryKeyConstraint("tenant", "path"),
)

MACHINES = Table(
    "machines",  # enrolled machines; `state`, `log` and `inventory` are JSON
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("name", AnyText, nullable=False),
    Column("team", AnyText),
    Column("environment", AnyText),
    Column("enrolled_at", Double, nullable=False),
    Column("seen_at", Double, nullable=False),
    Column("bundle", BigInteger),
    Column("state", AnyText),
    Column("log", AnyText),
    Column("inventory", AnyText),
    PrimaryKeyConstraint("tenant", "id"),
)

LOGINS = Table(
    "logins",  # logins of browsers; of an attempt that has no user yet, `body` has what the issuer must repeat
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("user", AnyText),
    Column("body", AnyText, nullable=False),
    Column("token_id", Text),
    Column("expires_at", Double, nullable=False),
    PrimaryKeyConstraint("tenant", "digest"),
    UniqueConstraint("digest", name="logins_by_digest"),
    Index("logins_by_expiry", "expires_at"),
)

CALL_REQUESTS = Table(
    "call_requests",  # questions about single calls, and their answers, shared by the processes of a server
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("body", AnyText, nullable=False),
    Column("expires_at", Double, nullable=False),
    PrimaryKeyConstraint("tenant", "id"),
)

RATE_LIMITS = Table(
    "rate_limits",  # how often something happened in a window of time, counted by all processes of a server
    METADATA,
    Column("tenant", Text, nullable=False),
    Column("key", AnyText, nullable=False),
    Column("window", BigInteger, nullable=False),
    Column("count", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant", "key", "window"),
)
