"""Tokens of a tenant: shown once, listed without their texts, never above or beyond their giver."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from prowess.errors import InvalidArgumentsError, PolicyDeniedError
from prowess.governance.organisation import token_digest
from prowess.governance.service.listing import ListQuery, NoSuchItemError
from prowess.governance.service.service_call import Actor, ServiceCall
from prowess.governance.service.tokens import TokenRequest, TokenService
from prowess.store import SharedDatabase
from prowess.store.shared.organisation import OrganisationStore, create_store
from prowess.store.shared.tokens import SharedTokenStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.postgresql import Postgresql


def _service(database: SharedDatabase, role: str = "administrator", tenant: str = "default") -> TokenService:
    actor = Actor(user="ada", roles=(role,), tenant=tenant, identified_by="token")  # type: ignore[arg-type]  # a role
    return TokenService(ServiceCall(actor, database))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SharedDatabase]:
    url = f"sqlite:///{tmp_path / 'organisation.db'}"
    create_store(url, origin="acme", public_key="key")
    opened = SharedDatabase(url)
    yield opened
    opened.close()


def test_a_token_is_shown_once_and_is_valid_until_it_is_removed(database: SharedDatabase) -> None:
    service = _service(database)
    given = service.add(TokenRequest(role="approver", user="bob", team="core", expires="1h"))
    store = SharedTokenStore(database)
    found = store.use_token(token_digest(given.token), time.time())
    assert found is not None
    assert (found.user, found.role, found.tenant, found.team) == ("bob", "approver", "default", "core")
    assert found.expires_at == pytest.approx(time.time() + 3600, abs=60)
    assert given.token not in repr(service.list(ListQuery()))
    service.remove(given.id)
    assert store.use_token(token_digest(given.token), time.time()) is None
    for missing in (given.id, "none", "nul\x00"):
        with pytest.raises(NoSuchItemError):
            service.remove(missing)


@pytest.mark.parametrize("user", ["bob\x00", "bob ", " bob", "b\u200bob", "bob\u202e", "bob\n"])
def test_a_token_has_no_owner_whose_name_looks_like_another(database: SharedDatabase, user: str) -> None:
    with pytest.raises(InvalidArgumentsError, match="no control or format characters"):
        _service(database).add(TokenRequest(role="approver", user=user))


def test_who_removes_a_token_second_has_failed(database: SharedDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    service, remove = _service(database), SharedTokenStore.remove_token
    given = service.add(TokenRequest(role="viewer", user="bob"))

    def after_another(store: SharedTokenStore, token_id: str) -> bool:
        return remove(store, token_id) and remove(store, token_id)

    monkeypatch.setattr(SharedTokenStore, "remove_token", after_another)
    with pytest.raises(NoSuchItemError):
        service.remove(given.id)
    with database._connections.engine().begin() as db:
        bodies = db.execute(text("SELECT CAST(body AS TEXT) FROM audit_inbox")).scalars().all()
    assert [one for one in bodies if "governance.failed" in str(one)]


def test_tokens_are_listed_page_by_page(database: SharedDatabase) -> None:
    service = _service(database)
    ids = [service.add(TokenRequest(role="viewer", user=f"user {number}")).id for number in range(5)]
    first = service.list(ListQuery(limit=2))
    second = service.list(ListQuery(limit=3, cursor=first.next))
    assert [one.id for one in (*first.items, *second.items)] == ids
    assert (first.next, second.next) == (ids[1], None)


@pytest.mark.parametrize("role", ["viewer", "user", "author", "approver", "machine"])
def test_only_administrators_give_tokens(database: SharedDatabase, role: str) -> None:
    with pytest.raises(PolicyDeniedError):
        _service(database, role).add(TokenRequest(role="viewer", user="bob"))
    with pytest.raises(PolicyDeniedError):
        _service(database, role).list(ListQuery())


def test_a_machine_belongs_to_one_tenant_alone(database: SharedDatabase) -> None:
    with pytest.raises(InvalidArgumentsError, match="one tenant"):
        _service(database, tenant="*").add(TokenRequest(role="machine", user="host"))


def test_an_administrator_of_a_tenant_gives_and_sees_tokens_of_this_tenant_alone(postgresql: Postgresql) -> None:
    url = postgresql.store_url()
    organisation = OrganisationStore(url)
    organisation.add_tenant("acme")
    every = organisation.database
    acme, whole = _service(every.of_tenant("acme"), tenant="acme"), _service(every, tenant="*")
    mine = acme.add(TokenRequest(role="administrator", user="bob"))
    theirs = _service(every.of_tenant("default")).add(TokenRequest(role="viewer", user="eve"))
    highest = whole.add(TokenRequest(role="administrator", user="root"))
    assert [(one.id, one.tenant) for one in acme.list(ListQuery()).items] == [(mine.id, "acme")]
    assert {one.tenant for one in whole.list(ListQuery()).items} == {"acme", "default", "*"}
    for foreign in (theirs.id, highest.id):
        with pytest.raises(NoSuchItemError):
            acme.remove(foreign)
    whole.remove(theirs.id)
    every.close()
