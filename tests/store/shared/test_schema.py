"""The schema of a shared store: as its tables are declared, in one line of revisions, refused if it is another one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from prowess.errors import StoreError
from prowess.store import SharedDatabase, open_store
from prowess.store.shared import schema
from prowess.store.shared.database import new_engine
from prowess.store.shared.organisation import create_store, migrate_store
from prowess.store.shared.tables import METADATA
from tests import forked
from tests.postgresql import database_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.postgresql import Postgresql


@pytest.fixture(params=["file", "server"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "server":
        server: Postgresql = request.getfixturevalue("postgresql")
        return server.store_url()
    url = f"sqlite:///{tmp_path}/shared.db"
    create_store(url, origin="test", public_key="test")
    return url


def test_the_migrations_make_the_declared_tables(url: str) -> None:
    engine = new_engine(url)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    engine.dispose()


def test_the_revisions_are_one_line_that_ends_with_the_known_one() -> None:
    scripts = ScriptDirectory(schema._MIGRATIONS, version_locations=[schema._MIGRATIONS])
    assert scripts.get_heads() == [schema.HEAD]
    revisions = [script.revision for script in scripts.walk_revisions()]
    assert revisions == sorted(revisions, reverse=True)


def test_another_schema_is_refused_with_what_to_do(url: str) -> None:
    engine = new_engine(url)
    for revision, advice in (("9999", "schema 9999.*upgrade Prowess"), ("0000", "older schema 0000.*admin migrate")):
        with engine.connect() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = :found"), {"found": revision})
            connection.commit()
        with pytest.raises(StoreError, match=advice), open_store(url) as store:
            store.peek("one")
        if revision == "9999":
            with pytest.raises(StoreError, match="upgrade Prowess"):
                migrate_store(url)
    engine.dispose()


def test_a_database_without_a_store_is_refused_with_what_to_do(postgresql: Postgresql) -> None:
    url = postgresql.url()
    with pytest.raises(StoreError, match="no store yet; create it: prowess admin init"), open_store(url) as store:
        store.peek("one")
    with pytest.raises(StoreError, match="create it: prowess admin init"):
        migrate_store(url)
    create_store(url, origin="test", public_key="test")
    with pytest.raises(StoreError, match="created already"):
        create_store(url, origin="test", public_key="test")
    assert migrate_store(url) == (schema.HEAD, schema.HEAD)


def test_a_store_that_is_stopped_is_refused_and_used_again_when_it_is_back(postgresql: Postgresql) -> None:
    url = postgresql.store_url()
    with open_store(url) as store:
        for _ in range(2):
            assert store.peek("one") is None
            postgresql.stop()
            with pytest.raises(StoreError, match="check that the database runs"):
                store.peek("one")
            postgresql.start()
            assert store.peek("one") is None
            postgresql.stop()
            postgresql.start()  # nobody noticed: the first call finds a broken connection, and takes a new one


def test_a_forked_process_uses_connections_of_its_own(postgresql: Postgresql) -> None:
    url = postgresql.store_url()
    with open_store(url) as store:
        assert store.peek("one") is None
        child = os.fork()
        if child == 0:
            forked.end(0 if store.peek("one") is None else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert store.peek("one") is None
    used = postgresql.run("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle'", database_of(url))
    assert used.strip() == "0"


def test_work_that_raises_is_rolled_back(url: str) -> None:
    database = SharedDatabase(url)
    with pytest.raises(ZeroDivisionError):
        database.run(lambda db: (db.execute(text("INSERT INTO generations VALUES ('default', 1)")), 1 / 0))
    assert database.run(lambda db: db.execute(text("SELECT count(*) FROM generations")).scalar()) == 0
    database.close()
