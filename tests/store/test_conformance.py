"""Every store passes the suites of its protocols: in memory, a local file, a shared file, and PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.audit import JsonlAuditLog, SharedAuditLog
from prowess.audit.record import AuditLog, AuditRecord, read_all
from prowess.audit.selection import RecordFilter
from prowess.audit.transparency.central_log import newest
from prowess.audit.transparency.sequencer import LogSigner, continue_log
from prowess.errors import StoreError
from prowess.signing.keys import new_private_key
from prowess.store import (
    MemorySessionStore,
    SessionRow,
    SharedApprovalRequestStore,
    SharedBlockStore,
    SharedCallRequestStore,
    SharedDatabase,
    SharedDeployerStore,
    SharedPolicyStore,
    SharedSessionStore,
    SharedVoteStore,
    SqliteSessionStore,
    open_store,
)
from prowess.store.shared.audit_rows import SharedAuditRows
from prowess.store.shared.logins import SharedLoginStore
from prowess.store.shared.machines import SharedMachineStore
from prowess.store.shared.organisation import create_store
from prowess.store.shared.rate_limits import SharedRateLimitStore
from prowess.store.shared.release_files import SharedReleaseFiles
from prowess.store.shared.tokens import SharedTokenStore
from prowess.testing.conformance.audit_logs import AuditLogConformance
from prowess.testing.conformance.login_stores import LoginStoreConformance, RateLimitStoreConformance
from prowess.testing.conformance.machine_stores import MachineStoreConformance, ReleaseFileStoreConformance
from prowess.testing.conformance.stores import (
    ApprovalRequestStoreConformance,
    BlockStoreConformance,
    CallRequestStoreConformance,
    DeployerStoreConformance,
    EventStoreConformance,
    PolicyStoreConformance,
    SessionStoreConformance,
    TokenStoreConformance,
    VoteStoreConformance,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.postgresql import Postgresql


@pytest.mark.proves("runtime.session.pluggable-state", "governance.storage.backends")
class TestMemory(SessionStoreConformance, EventStoreConformance):
    def open_store(self, place: Path) -> MemorySessionStore:
        return MemorySessionStore()


@pytest.mark.proves("runtime.session.pluggable-state", "governance.storage.backends")
class TestLocalFile(SessionStoreConformance, EventStoreConformance):
    def open_store(self, place: Path) -> SqliteSessionStore:
        return SqliteSessionStore(place / "state.db")


@pytest.mark.proves("runtime.session.pluggable-state", "governance.storage.backends")
class TestSharedFile(SessionStoreConformance, EventStoreConformance):
    def open_store(self, place: Path) -> SharedSessionStore:
        url = f"sqlite:///{place}/shared.db"
        create_store(url, origin="test", public_key="test")
        return SharedSessionStore(SharedDatabase(url))


@pytest.fixture(params=["file", "server"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new shared store of each kind."""
    if request.param == "server":
        server: Postgresql = request.getfixturevalue("postgresql")
        return server.store_url()
    url = f"sqlite:///{tmp_path}/shared.db"
    create_store(url, origin="test", public_key="test")
    return url


class SharedTables:
    """Opens the databases of a suite's stores, and closes them after each test."""

    url: str
    opened: list[SharedDatabase]

    @pytest.fixture(autouse=True)
    def opened_at(self, url: str) -> Iterator[None]:
        cls = type(self)
        cls.url, cls.opened = url, []
        yield
        for database in cls.opened:
            database.close()

    def database(self, tenant: str = "default") -> SharedDatabase:
        database = SharedDatabase(self.url, tenant)
        self.opened.append(database)
        return database


class TestTokens(SharedTables, TokenStoreConformance):
    def open_store(self, place: Path) -> SharedTokenStore:
        return SharedTokenStore(self.database("*"))


@pytest.mark.proves("governance.storage.backends")
class TestVotes(SharedTables, VoteStoreConformance):
    def open_store(self, place: Path) -> SharedVoteStore:
        return SharedVoteStore(self.database())


class TestLogins(SharedTables, LoginStoreConformance):
    def open_store(self, place: Path) -> SharedLoginStore:
        return SharedLoginStore(self.database("*"))

    def tokens(self) -> SharedTokenStore:
        return SharedTokenStore(self.database("*"))


class TestRateLimits(SharedTables, RateLimitStoreConformance):
    def open_store(self, place: Path) -> SharedRateLimitStore:
        return SharedRateLimitStore(self.database("*"))


class TestPolicies(SharedTables, PolicyStoreConformance):
    def open_store(self, place: Path, tenant: str = "default") -> SharedPolicyStore:
        return SharedPolicyStore(self.database(tenant))


class TestBlocks(SharedTables, BlockStoreConformance):
    def open_store(self, place: Path, tenant: str = "default") -> SharedBlockStore:
        return SharedBlockStore(self.database(tenant))


class TestDeployers(SharedTables, DeployerStoreConformance):
    def open_store(self, place: Path, tenant: str = "default") -> SharedDeployerStore:
        return SharedDeployerStore(self.database(tenant))


class TestMachines(SharedTables, MachineStoreConformance):
    def open_store(self, place: Path, tenant: str = "default") -> SharedMachineStore:
        return SharedMachineStore(self.database(tenant))


class TestReleaseFiles(SharedTables, ReleaseFileStoreConformance):
    def open_store(self, place: Path, tenant: str = "default") -> SharedReleaseFiles:
        return SharedReleaseFiles(self.database(tenant))


@pytest.mark.proves("governance.storage.backends")
class TestApprovalRequests(SharedTables, ApprovalRequestStoreConformance):
    def open_store(self, place: Path) -> SharedApprovalRequestStore:
        return SharedApprovalRequestStore(self.database())


class TestCallRequests(SharedTables, CallRequestStoreConformance):
    def open_store(self, place: Path) -> SharedCallRequestStore:
        return SharedCallRequestStore(self.database())


@pytest.mark.proves("runtime.session.pluggable-state", "governance.storage.backends")
class TestAuditFile(AuditLogConformance):
    def open_log(self, place: Path) -> JsonlAuditLog:
        return JsonlAuditLog(place / "audit" / "audit.jsonl", "second")

    def records(self, log: AuditLog, place: Path) -> list[AuditRecord]:
        path = place / "audit" / "audit.jsonl"
        return [one for one in read_all(path) if one is not None] if path.stat().st_size else []


@pytest.mark.proves("governance.storage.backends")
class TestCentralAuditLog(SharedTables, AuditLogConformance):
    def open_log(self, place: Path) -> SharedAuditLog:
        return SharedAuditLog(self.database())

    def records(self, log: AuditLog, place: Path) -> list[AuditRecord]:
        rows = SharedAuditRows(self.database())
        while continue_log(rows, LogSigner(name="test", key=new_private_key("ed25519"))) is not None:
            pass
        return newest(rows, RecordFilter(), 1000)


@pytest.mark.proves("governance.storage.backends")
class TestPostgresql(SessionStoreConformance, EventStoreConformance):
    server: Postgresql

    @pytest.fixture(autouse=True)
    def running(self, postgresql: Postgresql) -> None:
        type(self).server = postgresql

    def open_store(self, place: Path) -> SharedSessionStore:
        return SharedSessionStore(SharedDatabase(self.server.store_url()))


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["memory", "local", "shared"])
async def test_a_block_closes_a_store(kind: str, tmp_path: Path) -> None:
    url = "memory:" if kind == "memory" else f"sqlite:///{tmp_path}/{kind}.db"
    if kind == "shared":
        create_store(url, origin="test", public_key="test")
    row = SessionRow(session_id="one", version=1, state="", touched_at=1.0)
    async with open_store(url) as store:
        assert await store.create(row)
    with pytest.raises(StoreError, match="closed"):
        await store.get("one")
    with open_store(url) as again:
        assert await again.count() == (0 if kind == "memory" else 1)
    with pytest.raises(StoreError, match="closed"):
        await again.get("one")
