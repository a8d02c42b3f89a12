"""Tenants of one store see nothing of each other, whoever connects and whatever a query forgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import insert, select, true

from prowess.errors import StoreError
from prowess.store import SessionRow, SharedDatabase, SharedSessionStore, open_store
from prowess.store.shared import generations
from prowess.store.shared.organisation import OrganisationStore, create_store
from prowess.store.shared.row_security import ROLE
from prowess.store.shared.tables import METADATA, SESSIONS, TENANTS
from tests.postgresql import database_of

if TYPE_CHECKING:
    from tests.postgresql import Postgresql

_UNPROTECTED = """SELECT relname FROM pg_class
    WHERE relkind IN ('r', 'p', 'v', 'm') AND relnamespace = 'public'::regnamespace AND relname != 'alembic_version'
    AND NOT (relrowsecurity AND relforcerowsecurity)"""
ROW = SessionRow(session_id="one", version=1, state="{}", touched_at=1.0)


@pytest.fixture
def url(postgresql: Postgresql) -> str:
    """A store with the tenants acme and beta."""
    url = postgresql.store_url()
    organisation = OrganisationStore(url)
    assert organisation.add_tenant("acme")
    assert organisation.add_tenant("beta")
    assert not organisation.add_tenant("acme")
    assert organisation.tenants() == ("acme", "beta", "default")
    organisation.database.close()
    return url


def test_every_table_is_protected_and_one_that_is_not_is_found(postgresql: Postgresql, url: str) -> None:
    assert postgresql.run(_UNPROTECTED, database_of(url)) == ""
    postgresql.run("CREATE TABLE loose (tenant text)", database_of(url))
    assert postgresql.run(_UNPROTECTED, database_of(url)).split() == ["loose"]


def test_the_role_of_connections_owns_nothing_and_bypasses_nothing(postgresql: Postgresql, url: str) -> None:
    rights = "rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolcanlogin"
    owned = "(SELECT count(*) FROM pg_class WHERE relowner = pg_roles.oid)"
    query = f"SELECT {rights}, {owned} FROM pg_roles WHERE rolname = '{ROLE}'"  # noqa: S608 -- constants
    assert postgresql.run(query, database_of(url)).split() == ["f", "0"]


@pytest.mark.anyio
async def test_a_connection_without_a_tenant_sees_no_row_and_writes_none(url: str) -> None:
    async with open_store(url, tenant="acme") as store:
        await store.create(ROW)
    with psycopg.connect(url) as connection:
        connection.execute(f"SET ROLE {ROLE}")
        for table in METADATA.tables:
            seen = connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()  # noqa: S608 -- our own names
            assert seen == (0,), table
        with pytest.raises(InsufficientPrivilege):
            connection.execute("INSERT INTO tenants VALUES ('new', 1)")


@pytest.mark.anyio
async def test_a_query_without_its_tenant_condition_finds_no_foreign_row(url: str) -> None:
    async with (
        SharedSessionStore(SharedDatabase(url, "acme")) as acme,
        SharedSessionStore(SharedDatabase(url, "beta")) as beta,
    ):
        await acme.create(ROW)
        await acme.append_event("one", "body", at=1.0, keep=9)
        assert await beta.get("one") is None
        assert await beta.events_after("one", 0, 9) == []
        beta._build(true())
        assert await beta.get("one") is None
        assert await beta.count() == 0
        assert not await beta.touch("one", 9.0)
        assert not await beta.replace(ROW, expected_version=1)
        assert not await beta.delete("one")
        assert await beta.expire(9.0) == []
        assert await beta.create(ROW)  # the id is free for another tenant
        assert (await acme.get("one"), await acme.count()) == (ROW, 1)
        foreign = insert(SESSIONS).values(tenant="acme", session_id="two", version=1, state="", touched_at=1.0)
        with pytest.raises(StoreError, match="row-level security"):
            await beta.database.do(lambda db: db.execute(foreign))
        assert (await beta.database.do(lambda db: db.execute(select(TENANTS.c.tenant)).scalars().all())) == ["beta"]


@pytest.mark.anyio
async def test_a_row_brings_the_generation_that_holds_for_its_tenant(url: str) -> None:
    everybody = SharedDatabase(url, "*")
    async with (
        SharedSessionStore(SharedDatabase(url, "acme")) as acme,
        SharedSessionStore(SharedDatabase(url, "beta")) as beta,
    ):
        for store in (acme, beta):
            await store.create(ROW)
        await everybody.do(lambda db: generations.advance(db, "*"))
        await acme.database.do(lambda db: generations.advance(db, "acme"))
        found = [await store.get("one") for store in (acme, beta)]
        both, shared = (row.generation for row in found if row is not None)
        assert both > shared > 0
        with pytest.raises(StoreError):
            await acme.database.do(lambda db: generations.advance(db, "*"))  # only for who administers all tenants
    everybody.close()


def test_tenants_of_one_server_share_its_connections(postgresql: Postgresql, url: str) -> None:
    every = SharedDatabase(url, "*")
    views = [every.of_tenant(name) for name in ("acme", "beta", "default")]
    for view in (every, *views):
        names = sorted(view.run(lambda db: db.execute(select(TENANTS.c.tenant)).scalars().all()))
        assert names == (["acme", "beta", "default"] if view.tenant == "*" else [view.tenant])
    used = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{database_of(url)}'"  # noqa: S608 -- our own name
    assert postgresql.run(used, "postgres").strip() == "1"
    with pytest.raises(StoreError, match="no tenant 'gamma'"):
        every.of_tenant("gamma").run(lambda db: db.execute(select(TENANTS.c.tenant)).all())
    views[0].close()
    with pytest.raises(StoreError, match="closed"):
        every.run(lambda db: db.execute(select(TENANTS.c.tenant)).all())


def test_an_owner_without_further_rights_and_a_user_who_owns_nothing_can_use_a_store(postgresql: Postgresql) -> None:
    base = database_of(postgresql.url())
    postgresql.run(f"CREATE USER plain CREATEROLE; ALTER DATABASE {base} OWNER TO plain", "postgres")
    postgresql.run("GRANT ALL ON SCHEMA public TO plain; CREATE USER guest", base)
    owner, guest = postgresql.url_of(base, "plain"), postgresql.url_of(base, "guest")
    create_store(owner, origin="test", public_key="test")
    with open_store(owner) as store:
        assert store.peek("one") is None
    with pytest.raises(StoreError, match=f"GRANT {ROLE} TO"), open_store(guest) as store:
        store.peek("one")
    postgresql.run(f"GRANT {ROLE} TO guest", base)
    with open_store(guest) as store:
        assert store.peek("one") is None
    with psycopg.connect(guest) as connection:
        assert connection.execute("SELECT count(*) FROM tenants").fetchone() == (0,)


@pytest.mark.parametrize("tenant", ["Acme", "", "a\x00", "*x", "a" * 65, "-a"])
def test_an_impossible_name_of_a_tenant_is_refused(url: str, tenant: str) -> None:
    with pytest.raises(StoreError, match="lower-case letters"):
        open_store(url, tenant=tenant)


def test_an_unknown_tenant_is_refused_with_what_to_do(url: str) -> None:
    with (
        pytest.raises(StoreError, match="no tenant 'gamma'; add it: prowess admin tenant add gamma"),
        open_store(url, tenant="gamma") as store,
    ):
        store.peek("one")
