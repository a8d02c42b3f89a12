"""Connections to one shared store, for one tenant.

SQLAlchemy's engine is used from worker threads. Sessions run on any event loop, also on several at once, and look for
their state when they are created, without a loop; connections of an asynchronous driver belong to one loop.

Every transaction on PostgreSQL takes the role `prowess_rows` and the tenant until it ends, so a pool between the two
cannot mix them up. A connection that broke while it was idle is replaced before anything was sent, so a store that is
back is used at once.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import to_thread
from sqlalchemy import create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from prowess.errors import MissingExtraError, StoreError
from prowess.store.shared.row_security import ROLE, SETTING
from prowess.store.shared.schema import require_current
from prowess.store.sqlite import BUSY_SECONDS, fault_reason
from prowess.store.tenants import (
    DEFAULT,
    EVERY,
    POSTGRESQL,
    SQLITE,
    is_shared,
    shown_url,
    suggested_url,
    tenant_name_fault,
    url_fault,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine

_POOL = 5  # connections that stay open in one process; as many again in a crowd
_CONNECT_SECONDS = 5
_LOCK_SECONDS = 5
_KEEPALIVE = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 10_000}
BINARY = {"prowess_binary": True}  # option of a statement: results in binary, which is faster for long bytes
_T = TypeVar("_T")


class SharedDatabase:
    """The database of one shared store, as one tenant sees it. With the tenant `*`, the rows of all tenants.

    It is opened on first use, in each process anew, and may be used by many threads. `work` is called with a connection
    in a transaction, which is committed if `work` returns and rolled back if it raises.

    Raises:
        StoreError: by every operation, if the store cannot be reached or used, or has no such tenant.
        MissingExtraError: the driver is not installed.
    """

    def __init__(self, url: str, tenant: str = DEFAULT, *, connections: DatabaseEngine | None = None) -> None:
        self.url = shown_url(url)
        self.tenant = tenant
        if not url.startswith(SQLITE) and (fault := url_fault(url)):
            raise StoreError(self.url, fault)
        if tenant != EVERY and (fault := tenant_name_fault(tenant)):
            raise StoreError(self.url, fault)
        self._is_file = url.startswith(SQLITE)
        if not self._is_file and not url.startswith(POSTGRESQL):
            raise StoreError(self.url, "a shared store is postgresql://HOST/DATABASE or sqlite:///PATH")
        if self._is_file and tenant not in (DEFAULT, EVERY):
            raise StoreError(self.url, f"an SQLite file has the one tenant {DEFAULT!r}; more need PostgreSQL")
        # One message. The name of a tenant has no quotes.
        self._begin = (
            f"BEGIN; SET LOCAL ROLE {ROLE}; SET LOCAL {SETTING} = '{tenant}'; "
            f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'"
        )
        self._connections = DatabaseEngine(url) if connections is None else connections
        self._checked: Engine | None = None

    def of_tenant(self, tenant: str) -> SharedDatabase:
        """Return the same database as another tenant sees it. Both use, and close, the same connections."""
        if tenant == self.tenant:
            return self
        return SharedDatabase(self._connections.address, tenant, connections=self._connections)

    def run(self, work: Callable[[Connection], _T], *, write: bool = True) -> _T:
        """Return the result of `work`, committed. Blocks. `write=False` lets readers of an SQLite file run together."""
        try:
            connection = self._entered(write=write)
            try:
                result = work(connection)
                connection.commit()
            finally:
                connection.close()
        except SQLAlchemyError as fault:
            raise StoreError(self.url, reason_of(fault)) from fault
        return result

    async def do(self, work: Callable[[Connection], _T], *, write: bool = True) -> _T:
        """Do the same in a worker thread."""
        return await to_thread.run_sync(lambda: self.run(work, write=write))

    def close(self) -> None:
        """Close all connections. Closing twice is allowed; later operations raise `StoreError`."""
        self._connections.close()

    def _entered(self, *, write: bool) -> Connection:
        engine = self._opened()
        for is_last in (False, True):
            connection = engine.connect()
            try:
                self._enter(connection, write=write)
            except BaseException as fault:
                connection.close()
                if is_last or not (isinstance(fault, DBAPIError) and fault.connection_invalidated):
                    raise
                engine.dispose()  # the others that are idle broke too
            else:
                return connection
        raise AssertionError

    def _enter(self, connection: Connection, *, write: bool = False) -> None:
        """Begin a transaction with the role and the tenant of this object."""
        if self._is_file:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
            return
        driver = connection.connection.driver_connection
        try:
            driver.execute(self._begin, prepare=False)  # type: ignore[union-attr]  # a connection of psycopg
        except connection.dialect.loaded_dbapi.Error as fault:
            is_broken = driver.closed  # type: ignore[union-attr]  # as above
            if is_broken:
                connection.invalidate(fault)
            raise DBAPIError("BEGIN", None, fault, connection_invalidated=is_broken) from fault

    def _opened(self) -> Engine:
        engine = self._connections.engine()
        if engine is not self._checked:
            if not is_shared(self._connections.address):  # connecting would create an empty file
                raise StoreError(
                    self.url, f"there is no store yet; create it: prowess admin init --store {suggested_url(self.url)}"
                )
            with engine.connect() as connection:
                require_current(connection, self.url, self.tenant, self._enter)
            self._checked = engine
        return engine


class DatabaseEngine:
    """The engine of one database in this process, shared by all tenants that are used here."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._owner = 0  # process that opened the engine; connections must not be used after a fork
        self._closed = False

    def engine(self) -> Engine:
        """Return the engine of this process. Raises StoreError if it was closed."""
        with self._lock:
            if self._closed:
                raise StoreError(shown_url(self.address), "the store is closed")
            if self._engine is not None and self._owner != os.getpid():
                self._engine.dispose(close=False)
                self._engine = None
            if self._engine is None:
                self._engine, self._owner = new_engine(self.address), os.getpid()
            return self._engine

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            self._closed = True
            engine, self._engine = self._engine, None
            if engine is not None:
                engine.dispose(close=self._owner == os.getpid())


def new_engine(url: str) -> Engine:
    """Return an engine whose connections take no role. Raises MissingExtraError or StoreError."""
    if url.startswith(SQLITE):
        engine = create_engine(
            f"{SQLITE}{os.path.abspath(url.removeprefix(SQLITE))}",
            connect_args={"timeout": BUSY_SECONDS, "isolation_level": None},
            pool_size=_POOL,
            max_overflow=_POOL,
        )
        event.listen(engine, "connect", _use_wal)
        return engine
    try:
        import psycopg  # noqa: F401 -- imported here to name the extra if it is missing
    except ImportError as fault:
        raise MissingExtraError("a store in PostgreSQL", "postgresql", str(fault)) from None
    try:
        engine = create_engine(
            url.replace("postgresql:", "postgresql+psycopg:", 1),
            # In the driver's mode of single statements, because each transaction begins with `_begin`.
            connect_args={"autocommit": True, "connect_timeout": _CONNECT_SECONDS, **_KEEPALIVE},
            pool_size=_POOL,
            max_overflow=_POOL,
        )
    except SQLAlchemyError as fault:
        raise StoreError(shown_url(url), reason_of(fault)) from None
    event.listen(engine, "before_cursor_execute", _use_binary)
    return engine


def _use_binary(*details: Any) -> None:  # noqa: ANN401 -- the arguments of `before_cursor_execute`
    _, cursor, _, _, context, _ = details
    if context is not None and BINARY.items() <= context.execution_options.items():
        cursor.format = 1  # psycopg.pq.Format.BINARY


def _use_wal(connection: sqlite3.Connection, record: object) -> None:
    del record
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")  # an acknowledged audit record survives a loss of power


def reason_of(fault: SQLAlchemyError) -> str:
    """Return the fault and the remedy, in one line. It contains no statement and no value."""
    cause = fault.orig if isinstance(fault, DBAPIError) else None
    if cause is None:
        return f"{str(fault).partition(chr(10))[0]}; check the URL and try again"
    if type(cause).__module__.startswith("sqlite3"):
        return fault_reason(cause)  # type: ignore[arg-type]  # the module is that of `sqlite3.Error`
    told = " ".join(str(cause).split())
    match getattr(cause, "sqlstate", None):
        case "42501":
            return f"{told}; the user of the URL has to be a member: GRANT {ROLE} TO the user"
        case "55P03":
            return "another process kept it locked for too long; try again"
        case _:
            return f"{told}; check that the database runs and that the URL is right"
