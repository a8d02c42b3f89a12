"""The bundle of a tenant, made of the rows of the store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Table, insert, update

from prowess.errors import PolicyDeniedError, StoreError
from prowess.governance.machine.bundle import Bundle, read_bundle
from prowess.governance.machine.kept_bundle import KeptBundle
from prowess.governance.service.bundle import bundle_of, release_file
from prowess.signing.signed_note import read_note_key
from prowess.store.shared.generations import advance
from prowess.store.shared.organisation import OrganisationStore
from prowess.store.shared.release_files import SharedReleaseFiles
from prowess.store.shared.tables import BLOCKS, GENERATIONS, POLICIES
from tests.governance.service.organisations import SIGNER, call_of, new_organisation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from prowess.store import SharedDatabase
    from tests.postgresql import Postgresql

KEY = read_note_key(SIGNER.public_key)
ALLOW = '[[rule]]\neffect = "allow"\ntool = "*"\n'
DENY = '[[rule]]\neffect = "deny"\ntool = "skills.list"\n'
_ROW = {"by": "ann", "at": "2026-11-29T10:00:00Z"}


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SharedDatabase]:
    if request.param == "sqlite":
        opened = new_organisation(f"sqlite:///{tmp_path / 'organisation.db'}")
    else:
        server: Postgresql = request.getfixturevalue("postgresql")
        opened = new_organisation(server.url())
    yield opened
    opened.close()


def put(database: SharedDatabase, table: Table, tenant: str = "default", **values: object) -> None:
    def work(db: object) -> None:
        db.execute(insert(table).values(tenant=tenant, **_ROW, **values))  # type: ignore[attr-defined]  # a connection
        advance(db, tenant)  # type: ignore[arg-type]  # as above

    database.of_tenant(tenant).run(work)


def fetched(database: SharedDatabase, tenant: str = "default") -> Bundle:
    found = bundle_of(call_of(database, "machine", tenant=tenant), SIGNER)
    assert found is not None
    assert found.etag == f'"{found.version}"'
    return read_bundle(found.data, KEY)


def test_a_version_does_not_repeat_after_a_restore_of_a_backup(database: SharedDatabase) -> None:
    database.run(lambda db: advance(db, "default"))
    seen = [fetched(database).version]
    for _ in range(2):
        database.run(lambda db: db.execute(update(GENERATIONS).values(generation=1)))  # the row of an old backup
        database.run(lambda db: advance(db, "default"))
        seen.append(fetched(database).version)
    assert seen == sorted(set(seen))


def test_each_policy_is_a_file_and_each_act_is_a_new_version(database: SharedDatabase, tmp_path: Path) -> None:
    before = fetched(database)
    assert (before.tenant, before.files) == ("default", {})
    put(database, POLICIES, "*", name="base", number=1, toml=ALLOW)
    put(database, POLICIES, name="base", number=1, toml=DENY)
    block = {"id": "block-1", "kind": "name", "value": "bad", "reason": "stolen"}
    put(database, BLOCKS, subject="name bad", **block)
    after = fetched(database)
    assert before.version < after.version < 2**53  # a number of JSON
    assert after.expires == before.expires
    assert after.files["organisation.base.toml"] == ALLOW
    assert after.files["tenant.base.toml"] == DENY
    assert json.loads(after.files["blocks.json"])["blocks"] == [{**block, **_ROW}]
    call = call_of(database, "machine")
    assert bundle_of(call, SIGNER, f'"{after.version}"') is None
    signed = bundle_of(call, SIGNER, f'W/"{before.version}"')
    assert signed is not None
    assert signed.data == (bundle_of(call, SIGNER, "nonsense") or signed).data
    kept = KeptBundle(str(tmp_path / "state"), KEY, "default")
    assert kept.take(signed.data) == (after, True)


@pytest.mark.proves("governance.tenants.enterprise")
def test_a_tenant_gets_what_the_organisation_gives_and_nothing_of_others(database: SharedDatabase) -> None:
    if database.url.startswith("sqlite"):
        pytest.skip("an SQLite file has one tenant")
    organisation = OrganisationStore(database._connections.address)
    organisation.add_tenant("other")
    organisation.database.close()
    put(database, POLICIES, "*", name="base", number=1, toml=ALLOW)
    put(database, POLICIES, "other", name="own", number=1, toml=DENY)
    SharedReleaseFiles(database.of_tenant("*")).publish({"metadata/1.root.json": b"{}", "targets/a": b"all"}, {})
    SharedReleaseFiles(database.of_tenant("other")).publish({"metadata/1.root.json": b"[]", "targets/b": b"own"}, {})
    assert fetched(database).files.keys() == {"organisation.base.toml", "root.json"}
    other = fetched(database, "other")
    assert other.files.keys() == {"organisation.base.toml", "tenant.own.toml", "root.json", "tenant-root.json"}
    of_default, of_other = call_of(database, "machine"), call_of(database, "machine", tenant="other")
    assert release_file(of_default, "targets/a") == release_file(of_other, "targets/a") == b"all"
    assert release_file(of_other, "tenant/targets/b") == b"own"
    assert release_file(of_default, "tenant/targets/b") is None


def test_people_who_do_not_administer_and_the_organisation_get_no_bundle(database: SharedDatabase) -> None:
    for role in ("viewer", "user", "author", "approver"):
        with pytest.raises(PolicyDeniedError, match="needs the role machine"):
            bundle_of(call_of(database, role), SIGNER)
    with pytest.raises(PolicyDeniedError):
        bundle_of(call_of(database, "machine", tenant="*"), SIGNER)
    assert bundle_of(call_of(database, of="*"), SIGNER) is not None


def test_a_row_that_cannot_be_a_file_gives_no_bundle(database: SharedDatabase) -> None:
    put(database, POLICIES, name="../base", number=1, toml=ALLOW)
    with pytest.raises(StoreError, match="cannot be a file"):
        bundle_of(call_of(database, "machine"), SIGNER)


def test_a_publication_is_all_or_nothing(database: SharedDatabase) -> None:
    files = SharedReleaseFiles(database)
    assert files.publish({"a": b"1", "b": b"1"}, {"a": None})
    version = fetched(database).version
    assert not files.publish({"b": b"2"}, {"a": None})
    assert files.read("b") == b"1"
    assert files.publish({"a": b"2"}, {"a": b"1"}, is_act=False)
    assert fetched(database).version == version
