"""Statuses of the interface, as its page states them: bad input, conflicts, roles, sizes, a store that went away."""

from __future__ import annotations

import gzip
import io
import tarfile
from typing import TYPE_CHECKING, Any, get_origin

import pytest

from prowess.http_server.api.routes import ROUTES
from tests.http_server.organisation import ServedOrganisation, in_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.http_server.api.route_table import ApiRoute
    from tests.postgresql import Postgresql

DIGEST = f"sha256:{7:064x}"
POLICY = 'default = "allow"\n[[approval]]\nfor = ["new-skills"]\ncount = 2\nroles = ["approver"]\n'


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedOrganisation]:
    with in_file(tmp_path_factory.mktemp("acme")) as organisation:
        yield organisation


def _error(answer: Any) -> tuple[int, str]:  # noqa: ANN401 -- an answer of the client
    return answer.status_code, answer.json()["error"]["code"]


def test_an_approval_of_two_people_and_every_vote_that_does_not_count(acme: ServedOrganisation) -> None:
    administrator = acme.client("administrator")
    assert administrator.put("/api/v1/policies/base", json={"toml": POLICY}).status_code == 200
    body = {"skill": "deploy", "digest": DIGEST, "reason": "it deploys"}
    author, ann, bob = (acme.client(role, user=name) for role, name in (("author", "eve"), *PEOPLE))
    asked = author.post("/api/v1/approvals", json=body)
    found = asked.json()
    assert asked.status_code == 201
    assert (found["skill"], found["digest"], found["needed"], found["given"]) == ("deploy", DIGEST, 2, 0)
    votes = f"/api/v1/approvals/{found['id']}/votes"
    assert _error(author.post(votes, json={"vote": "approve"})) == (403, "policy_denied")
    assert _error(ann.post(votes, json={"vote": "aprove"})) == (400, "invalid_arguments")
    other = {"vote": "approve", "digest": f"sha256:{8:064x}"}
    assert _error(ann.post(votes, json=other)) == (409, "invalid_request")
    past = {"vote": "approve", "until": "2020-01-01T00:00:00Z"}
    assert _error(ann.post(votes, json=past)) == (400, "invalid_arguments")
    assert ann.post(votes, json={"vote": "approve", "reason": "read it"}).status_code == 201
    assert _error(ann.post(votes, json={"vote": "approve"})) == (409, "invalid_request")
    own = acme.client("approver", user="eve")
    assert _error(own.post(votes, json={"vote": "approve"})) == (409, "invalid_request")
    done = bob.post(votes, json={"vote": "approve"}).json()
    assert (done["state"], done["given"]) == ("approved", 2)
    revoked = bob.delete(f"/api/v1/approvals/{found['id']}", params={"reason": "found a fault"})
    assert (revoked.status_code, revoked.json()["state"]) == (200, "waiting")
    assert _error(bob.delete("/api/v1/approvals/none")) == (404, "resource_not_found")


PEOPLE = (("approver", "ann"), ("approver", "bob"))


@pytest.mark.parametrize(
    ("path", "body", "part"),
    [
        ("/blocks", {"match": {"nam": "x"}, "reason": "x"}, "did you mean 'name'?"),
        ("/blocks", {"match": {"name": "x", "digest": DIGEST}, "reason": "x"}, "exactly one of"),
        ("/blocks", {"match": {"digest": "sha256:1"}, "reason": "x"}, "$.match.digest"),
        ("/tokens", {"role": "aprover", "user": "x"}, "did you mean 'approver'?"),
        ("/tokens", {"role": "viewer", "user": " "}, "$.user"),
        ("/tokens", {"role": "viewer", "user": "x", "expires": "-1d"}, "$.expires"),
        ("/approvals", {"skill": "x", "digest": "md5:1"}, "$.digest"),
        ("/policies/replay", {"toml": "[[rule]]\neffekt = 1\n"}, "effekt"),
    ],
)
def test_bad_input_is_400_with_place_and_remedy(
    acme: ServedOrganisation, path: str, body: dict[str, object], part: str
) -> None:
    answer = acme.client("administrator").post(f"/api/v1{path}", json=body)
    assert answer.status_code == 400
    assert part in answer.json()["error"]["message"]


def test_a_body_that_is_no_json_of_another_kind_or_too_large_is_refused(acme: ServedOrganisation) -> None:
    client = acme.client("administrator")
    for content, kind in ((b"{", "application/json"), (b"\xff", "application/json"), (b"{}", "text/plain")):
        assert client.post("/api/v1/blocks", content=content, headers={"content-type": kind}).status_code == 400
    large = client.post("/api/v1/blocks", content=b" " * (2 * 1024 * 1024 + 1))
    assert _error(large) == (413, "limit_exceeded")
    refused = acme.client().post("/api/v1/blocks", content=b" " * (2 * 1024 * 1024 + 1))
    assert _error(refused) == (401, "policy_denied")  # before the body is read


def test_an_archive_is_deployed_and_a_broken_one_is_refused(acme: ServedOrganisation) -> None:
    client = acme.client("administrator")
    assert client.delete("/api/v1/policies/base").status_code in {200, 404}
    text = b"---\nname: hello\ndescription: Says hello. Use it when somebody asks for a greeting.\n---\nSay hello.\n"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo("hello/SKILL.md")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    headers = {"content-type": "application/octet-stream"}
    deployed = client.post("/api/v1/deployments", content=gzip.compress(packed.getvalue()), headers=headers)
    assert deployed.status_code == 201, deployed.text
    assert [skill["name"] for skill in deployed.json()["skills"]] == ["hello"]
    assert client.post("/api/v1/deployments", content=b"no archive", headers=headers).status_code in {400, 409}
    assert _error(client.post("/api/v1/deployments/revoke", json={"skills": ["none"]}))[0] == 409


def test_what_the_database_cannot_hold_is_the_fault_of_the_request(postgresql: Postgresql) -> None:
    with ServedOrganisation(postgresql.url()) as organisation:
        client, machine = organisation.client("administrator"), organisation.client("machine")
        assert _error(client.get("/api/v1/machines/%00")) == (404, "resource_not_found")
        assert _error(client.delete("/api/v1/machines/%00")) == (404, "resource_not_found")
        report = {"id": "0" * 36, "name": "laptop"}
        for sent in (
            {"machine": {**report, "bundle": 2**63}},
            {"machine": {**report, "release": -1}},
            {"machine": report, "end": {"sequence": -5}},
        ):
            assert _error(machine.post("/api/v1/audit/records", json=sent)) == (400, "invalid_arguments")


def test_a_database_that_goes_away_is_503_and_requests_work_again_when_it_is_back(postgresql: Postgresql) -> None:
    with ServedOrganisation(postgresql.url()) as organisation:
        client = organisation.client("administrator")
        assert client.get("/api/v1/me").status_code == 200
        postgresql.stop()
        try:
            answer = client.get("/api/v1/me")
            assert _error(answer) == (503, "store_unavailable")
            assert int(answer.headers["retry-after"]) > 0
            assert client.get("/readyz").status_code == 503
            assert client.get("/healthz").status_code == 200
            assert "prowess_store_up 0.0" in client.get("/metrics").text
        finally:
            postgresql.start()
        assert client.get("/api/v1/me").status_code == 200
        assert client.get("/readyz").status_code == 200


def _is_list(route: ApiRoute) -> bool:
    return "items" in getattr(get_origin(route.answer) or route.answer, "__struct_fields__", ())


LISTS = [route for route in ROUTES if _is_list(route) and "{" not in route.path]


@pytest.mark.parametrize("route", LISTS, ids=lambda route: route.name)
def test_every_list_has_a_limit_of_500_and_a_cursor(acme: ServedOrganisation, route: ApiRoute) -> None:
    client, path = acme.client("administrator"), f"/api/v1{route.path}"
    page = client.get(path, params={"limit": "500"})
    assert page.status_code == 200, page.text
    assert {"items", "next"} <= page.json().keys()
    for limit in ("0", "501", "-1", "x", "null", ""):
        assert _error(client.get(path, params={"limit": limit})) == (400, "invalid_arguments")
    assert "cursor" in route.query.__struct_fields__
    assert client.get(path, params={"cursor": "\x00"}).status_code == 400
