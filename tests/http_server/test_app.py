"""The server of an organisation: probes, tokens, tenants, and errors of one form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest

from prowess.governance.organisation import add_token
from tests.http_server.organisation import ServedOrganisation, in_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedOrganisation]:
    with in_file(tmp_path_factory.mktemp("acme")) as organisation:
        yield organisation


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/v1/me", "/api/v1/openapi.json", "/api/v1/nothing", "/api/v2"])
@pytest.mark.parametrize(
    "headers", [{}, {"authorization": "Bearer wrong"}, {"authorization": "Basic eDp5"}, {"authorization": ""}]
)
def test_everything_below_api_needs_a_token(acme: ServedOrganisation, path: str, headers: dict[str, str]) -> None:
    answer = acme.client().get(path, headers=headers)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert answer.json()["error"]["code"] == "policy_denied"


def test_a_token_that_was_removed_or_has_ended_is_refused_at_the_next_request(acme: ServedOrganisation) -> None:
    made = add_token(acme.url, tenant="default", role="viewer", user="ann", seconds=3600)
    ended = add_token(acme.url, tenant="default", role="viewer", user="ann", seconds=0)
    assert made is not None
    assert ended is not None
    client = acme.client()
    headers = {"authorization": f"bearer {made.text}"}
    assert client.get("/api/v1/me", headers=headers).json() == {
        "user": "ann",
        "team": None,
        "roles": ["viewer"],
        "tenant": "default",
        "identified_by": "token",
    }
    acme.server.database.run(lambda db: db.exec_driver_sql("DELETE FROM tokens WHERE id = ?", (made.token.id,)))
    assert client.get("/api/v1/me", headers=headers).status_code == 401
    assert client.get("/api/v1/me", headers={"authorization": f"Bearer {ended.text}"}).status_code == 401


def test_the_body_of_a_call_that_no_role_permits_is_not_read(acme: ServedOrganisation) -> None:
    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {acme.token('viewer')}".encode())]
    scope = {"type": "http", "method": "POST", "path": "/api/v1/deployments", "query_string": b"", "headers": headers}
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        raise AssertionError("the body was read")

    async def send(message: Any) -> None:  # noqa: ANN401 -- a message of the protocol
        sent.append(message)

    anyio.run(acme.app, scope, receive, send)
    assert sent[0]["status"] == 403


def test_probes_need_no_token(acme: ServedOrganisation) -> None:
    client = acme.client()
    assert client.get("/healthz").json() == {"status": "ok"}
    ready = client.get("/readyz").json()
    assert (ready["status"], ready["checkpoint_age_seconds"] >= 0) == ("ready", True)
    assert "prowess_store_up 1.0" in client.get("/metrics").text


def test_a_foreign_tenant_and_one_that_does_not_exist_look_the_same(acme: ServedOrganisation) -> None:
    seen = [acme.client("administrator").get("/api/v1/me", params={"tenant": name}) for name in ("*", "other", "x")]
    assert {(one.status_code, one.text) for one in seen} == {(404, seen[0].text)}
    assert acme.client("administrator", "*").get("/api/v1/me", params={"tenant": "other"}).text == seen[0].text
    assert acme.client("administrator", "*").get("/api/v1/me", params={"tenant": "default"}).status_code == 200


def test_bad_input_is_answered_with_its_place(acme: ServedOrganisation) -> None:
    client = acme.client("viewer")
    unknown = client.get("/api/v1/me", params={"tenat": "x"})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (400, "invalid_arguments")
    assert "`tenat`" in unknown.json()["error"]["message"]
    assert client.get("/api/v1/me?tenant=default&tenant=default").status_code == 400
    assert client.get("/api/v1/nothing").status_code == 404
    other = client.delete("/api/v1/me")
    assert (other.status_code, other.headers["allow"]) == (405, "GET")


def test_pages_of_other_origins_and_unknown_hosts_are_refused(acme: ServedOrganisation) -> None:
    client = acme.client("viewer")
    assert client.get("/api/v1/me", headers={"origin": "https://evil.example"}).status_code == 403
    assert client.get("/api/v1/me", headers={"host": "evil.example"}).status_code == 421


def test_every_answer_has_the_security_headers(acme: ServedOrganisation) -> None:
    for path in ("/healthz", "/api/v1/me", "/nothing"):
        headers = acme.client().get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
        assert headers["x-content-type-options"] == "nosniff"


def test_a_store_that_went_away_is_503_until_it_is_back(
    tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path_factory.mktemp("away")
    with in_file(place) as organisation:
        client = organisation.client("viewer")
        file = place / "organisation.db"
        organisation.server.database.run(lambda db: db.exec_driver_sql("ALTER TABLE tokens RENAME TO hidden"))
        answer = client.get("/api/v1/me")
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "store_unavailable")
        assert int(answer.headers["retry-after"]) > 0
        assert answer.json()["error"]["message"] == "the store cannot be used now; try again"
        assert str(file) in caplog.text  # the reason is for those who run the server
        page = client.get("/", headers={"cookie": "prowess_login=x"})
        assert str(file) not in page.text
        organisation.server.database.run(lambda db: db.exec_driver_sql("ALTER TABLE hidden RENAME TO tokens"))
        assert client.get("/api/v1/me").status_code == 200
        assert file.exists()


def test_a_page_without_its_store_tells_the_reason_to_the_log_and_to_administrators(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with in_file(tmp_path) as organisation:
        pages = [organisation.client(role) for role in ("viewer", "administrator")]
        organisation.server.database.run(lambda db: db.exec_driver_sql("ALTER TABLE approval_requests RENAME TO gone"))
        seen = [page.get("/approvals") for page in pages]
        assert [(one.status_code, "no such table" in one.text) for one in seen] == [(503, False), (503, True)]
        assert "The store cannot be used now; try again." in seen[0].text
        assert caplog.text.count("no such table: approval_requests") == 2
