"""Who may call which operation of the interface: every cell of the table of roles and operations is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from prowess.http_server.api.openapi import openapi_document
from prowess.http_server.api.route_table import ROLES
from prowess.http_server.api.routes import ROUTES
from tests.http_server.organisation import ServedOrganisation, in_file
from tests.http_server.samples import SAMPLES, Sample

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.http_server.api.route_table import ApiRoute

PEOPLE = ("viewer", "user", "author", "approver", "administrator")
READERS = ("approver", "administrator")
# Stated here once more: a wrong entry in the table of routes must not pass because it is used everywhere.
ALLOWED: dict[str, tuple[str, ...]] = {
    "openapi": PEOPLE,
    "me": PEOPLE,
    "list_tokens": ("administrator",),
    "add_token": ("administrator",),
    "remove_token": ("administrator",),
    "list_sessions": READERS,
    "session": READERS,
    "list_session_events": READERS,
    "list_approvals": PEOPLE,
    "ask_for_approval": ("user", "author", "approver", "administrator"),
    "approval": PEOPLE,
    "revoke_approval": READERS,
    "vote": READERS,
    "list_blocks": PEOPLE,
    "block": PEOPLE,
    "add_block": ("administrator",),
    "remove_block": ("administrator",),
    "list_policies": PEOPLE,
    "policy": PEOPLE,
    "put_policy": ("administrator",),
    "remove_policy": ("administrator",),
    "replay_policy": READERS,
    "list_records": READERS,
    "checkpoint": READERS,
    "proof": READERS,
    "consistency": READERS,
    "export": READERS,
    "analytics": READERS,
    "events": READERS,
    "bundle": ("administrator", "machine"),
    "send_records": ("machine",),
    "list_machines": READERS,
    "machine": READERS,
    "remove_machine": ("administrator",),
    "list_deployments": PEOPLE,
    "deployment": PEOPLE,
    "deploy": ("administrator",),
    "revoke_skills": ("administrator",),
    "deprecate_skill": ("administrator",),
    "roll_back_deployment": ("administrator",),
    "access": PEOPLE,
    "list_skills": PEOPLE,
    "skill": PEOPLE,
    "inventory": READERS,
}


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedOrganisation]:
    with in_file(tmp_path_factory.mktemp("acme")) as organisation:
        organisation.fill()
        yield organisation


def _called(acme: ServedOrganisation, route: ApiRoute, role: str | None) -> Any:  # noqa: ANN401 -- an answer of the client
    sample = SAMPLES.get(route.name, Sample())
    path = route.path.format_map(sample.path)
    client = acme.client(role)
    url = f"/api/v1{path}"
    if sample.content is not None:
        return client.request(route.method, url, params=sample.query, content=sample.content)
    return client.request(route.method, url, params=sample.query, json=sample.body)


def test_the_table_names_every_operation_and_the_document_states_its_roles() -> None:
    document = openapi_document(ROUTES, "0")
    stated = {one["operationId"]: tuple(one["x-roles"]) for path in document["paths"].values() for one in path.values()}
    assert stated == ALLOWED


@pytest.mark.proves("governance.rbac.access")
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_role_may_call_an_operation_or_is_refused(acme: ServedOrganisation, route: ApiRoute, role: str) -> None:
    if route.name == "events" and role in ALLOWED["events"]:
        pytest.skip("it never ends; tests/http_server/test_events.py reads it")
    answer = _called(acme, route, role)
    if role in ALLOWED[route.name]:
        assert answer.status_code in {200, 201, 204, 404}, answer.text
    else:
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "policy_denied")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_nobody_calls_an_operation_without_a_token(acme: ServedOrganisation, route: ApiRoute) -> None:
    assert _called(acme, route, None).status_code == 401


def test_a_refusal_is_in_the_log_with_its_rule(acme: ServedOrganisation) -> None:
    acme.client("viewer", user="eve").post("/api/v1/blocks", json={})
    acme.sequence()
    found = acme.client("administrator").get("/api/v1/audit", params={"user": "eve", "rule": "roles.block"}).json()
    assert [one["kind"] for one in found["items"]] == ["governance.refused"]
