"""A call to the store of an organisation: its tenant, its roles, and what of it is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.audit.selection import RecordFilter
from prowess.audit.transparency.central_log import newest
from prowess.audit.transparency.sequencer import LogSigner, continue_log
from prowess.errors import PolicyDeniedError
from prowess.governance.service.listing import ListPage, ListQuery, every_item, page_of
from prowess.governance.service.service_call import Actor, ServiceCall
from prowess.signing.keys import new_private_key
from prowess.signing.signed_note import note_key
from prowess.store import SharedDatabase
from prowess.store.shared.audit_rows import SharedAuditRows
from prowess.store.shared.organisation import create_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_KEY = new_private_key("ed25519")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SharedDatabase]:
    url = f"sqlite:///{tmp_path / 'organisation.db'}"
    create_store(url, origin="acme", public_key=str(note_key("acme", _KEY.public)))
    opened = SharedDatabase(url)
    yield opened
    opened.close()


def _actor(role: str, tenant: str = "default") -> Actor:
    return Actor(user="ann", roles=(role,), tenant=tenant, identified_by="token")  # type: ignore[arg-type]  # a role


def _records(database: SharedDatabase) -> list[tuple[str, Mapping[str, object]]]:
    rows = SharedAuditRows(database)
    continue_log(rows, LogSigner(name="acme", key=_KEY))
    return [(one.kind, one.data) for one in newest(rows, RecordFilter(), 10)]


def test_an_act_is_recorded_with_its_actor_before_it_is_done(database: SharedDatabase) -> None:
    call = ServiceCall(_actor("administrator"), database, client="a browser")
    call.require("block")
    with pytest.raises(ZeroDivisionError), call.act("block", {"id": "block-1"}):
        _ = 1 / 0
    (first, told), (second, failed) = _records(database)
    assert (first, second, failed["act"]) == ("governance.block", "governance.failed", "block")
    assert (told["user"], told["client"], told["identified_by"]) == ("ann", "a browser", "token")
    assert told["roles"] == ["administrator"]


@pytest.mark.parametrize("role", ["viewer", "user", "author", "approver", "machine"])
def test_a_role_that_may_not_is_refused_and_recorded(database: SharedDatabase, role: str) -> None:
    with pytest.raises(PolicyDeniedError, match="needs the role administrator"):
        ServiceCall(_actor(role), database).require("block")
    ((kind, told),) = _records(database)
    assert (kind, told["rule"], told["roles"]) == ("governance.refused", "roles.block", [role])


def test_an_actor_of_one_tenant_sees_no_other(database: SharedDatabase) -> None:
    with pytest.raises(PolicyDeniedError, match="does not belong"):
        ServiceCall(_actor("administrator", "other"), database, tenant="default")
    assert ServiceCall(_actor("administrator", "*"), database, tenant="default").tenant == "default"


def test_every_item_of_a_list_is_read_part_by_part() -> None:
    asked: list[ListQuery] = []

    def list_of(query: ListQuery) -> ListPage[int]:
        asked.append(query)
        return page_of(range(1234), query, lambda number: f"{number:04}")

    assert list(every_item(list_of, ListQuery())) == list(range(1234))
    assert [(one.limit, one.cursor) for one in asked] == [(500, None), (500, "0499"), (500, "0999")]
