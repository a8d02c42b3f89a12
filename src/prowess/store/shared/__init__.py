"""The store that an organisation's machines share: PostgreSQL, or one SQLite file for one tenant."""

from __future__ import annotations

from prowess.errors import MissingExtraError

try:
    import sqlalchemy  # noqa: F401 -- imported here to name the extra if it is missing
except ImportError as fault:
    raise MissingExtraError("a shared store", "server", str(fault)) from None
