"""The organisation of a shared store: created with its first tenant, and its further tenants."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from sqlalchemy import func, insert, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from prowess.errors import StoreError
from prowess.store.shared.database import SharedDatabase, new_engine, reason_of
from prowess.store.shared.row_security import SETTING
from prowess.store.shared.schema import HEAD, migrate, require_known, revision_of
from prowess.store.shared.tables import AUDIT_INBOX, ORGANISATIONS, TENANTS
from prowess.store.sqlite import fault_reason, make_private_file
from prowess.store.tenants import APPLICATION, DEFAULT, EVERY, SQLITE, shown_url, suggested_url, tenant_name_fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

_T = TypeVar("_T")


class Organisation(Struct, frozen=True, kw_only=True):
    """The organisation of a store. `public_key` is its verifier key, `NAME+hash+base64`."""

    origin: str
    public_key: str
    created_at: float


def create_store(url: str, *, origin: str, public_key: str) -> None:
    """Create the tables, the organisation and the tenant `default` in an empty database, all or nothing.

    An SQLite file is created, with mode 0600.

    Raises:
        StoreError: the database cannot be used, or it holds a store already.
    """

    def work(db: Connection) -> None:
        if revision_of(db) is not None:
            raise StoreError(shown_url(url), "it was created already; prowess admin migrate updates an older schema")
        migrate(db)
        now = time.time()
        db.execute(insert(ORGANISATIONS).values(tenant=EVERY, origin=origin, public_key=public_key, created_at=now))
        db.execute(insert(TENANTS).values(tenant=DEFAULT, created_at=now))

    if not url.startswith(SQLITE):
        _as_owner(url, work)
        return
    path = os.path.abspath(url.removeprefix(SQLITE))
    _create_file(path, shown_url(url))
    try:
        _as_owner(url, work)
    except BaseException:
        os.unlink(path)
        raise


def migrate_store(url: str) -> tuple[str, str]:
    """Bring an existing store to the schema of this program. Return the revisions before and after.

    Raises:
        StoreError: there is no store, a newer Prowess has written it, or it cannot be used.
    """

    def work(db: Connection) -> str:
        found = revision_of(db)
        if found is None:
            raise StoreError(
                shown_url(url), f"there is no store; create it: prowess admin init --store {suggested_url(url)}"
            )
        require_known(found, shown_url(url))
        if found != HEAD:
            migrate(db)
        return found

    return _as_owner(url, work), HEAD


class OrganisationStore:
    """The organisation and its tenants, for those who administer them. Blocking."""

    def __init__(self, url: str) -> None:
        self.database = SharedDatabase(url, EVERY)
        self._is_file = url.startswith(SQLITE)

    def organisation(self) -> Organisation:
        """Return the organisation. Raises StoreError."""
        wanted = select(ORGANISATIONS.c.origin, ORGANISATIONS.c.public_key, ORGANISATIONS.c.created_at)
        row = self.database.run(lambda db: db.execute(wanted).first(), write=False)
        if row is None:
            raise StoreError(self.database.url, "it names no organisation; restore it from a backup")
        return Organisation(origin=row[0], public_key=row[1], created_at=row[2])

    def tenants(self) -> tuple[str, ...]:
        """Return the names of all tenants, sorted. Raises StoreError."""
        return tenants_in(self.database)

    def waiting_since(self) -> str | None:
        """Return the time of the oldest record that waits for its place in a log, None if none waits."""
        oldest = select(func.min(AUDIT_INBOX.c.at))
        found: str | None = self.database.run(lambda db: db.execute(oldest).scalar(), write=False)
        return found

    def schema(self) -> str:
        """Return the revision of the schema. Raises StoreError if the store or its schema cannot be used."""
        found = self.database.run(revision_of, write=False)
        if found is None or found != HEAD:
            raise StoreError(self.database.url, f"it has the schema {found}, this Prowess needs {HEAD}")
        return found

    def add_tenant(self, name: str) -> bool:
        """Add a tenant; return False if there is one of this name.

        Raises:
            ValueError: a tenant cannot have this name.
            StoreError: the store has one tenant only, or cannot be used.
        """
        if fault := tenant_name_fault(name):
            raise ValueError(fault)
        if self._is_file and name != DEFAULT:
            raise StoreError(self.database.url, f"an SQLite file has the one tenant {DEFAULT!r}; more need PostgreSQL")
        new = insert(TENANTS).values(tenant=name, created_at=time.time())
        try:
            self.database.run(lambda db: db.execute(new))
        except StoreError as refused:
            if isinstance(refused.__cause__, IntegrityError):
                return False
            raise
        return True


def tenants_in(database: SharedDatabase) -> tuple[str, ...]:
    """Return the names of all tenants that a database shows, sorted. Raises StoreError."""
    wanted = select(TENANTS.c.tenant).order_by(TENANTS.c.tenant)
    return tuple(database.run(lambda db: db.execute(wanted).scalars().all(), write=False))


def _as_owner(url: str, work: Callable[[Connection], _T]) -> _T:
    """Run `work` in a transaction as the user of the URL, who owns the tables."""
    engine = new_engine(url)
    try:
        with engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql("BEGIN")
                # One at a time, also in two processes.
                connection.exec_driver_sql(
                    f"SELECT pg_advisory_xact_lock({APPLICATION}), set_config('{SETTING}', '{EVERY}', true)"
                )
            else:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            result = work(connection)
            connection.commit()
            return result
    except SQLAlchemyError as fault:
        raise StoreError(shown_url(url), reason_of(fault)) from fault
    finally:
        engine.dispose()


def _create_file(path: str, shown: str) -> None:
    """Create an SQLite file that is recognised as a shared store by its header."""
    if os.path.exists(path):
        raise StoreError(shown, "the file exists; name a new one. prowess admin migrate updates the schema of a store")
    try:
        make_private_file(path)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
    except (OSError, sqlite3.Error) as fault:
        with suppress(OSError):
            os.unlink(path)
        raise StoreError(shown, fault_reason(fault)) from fault
