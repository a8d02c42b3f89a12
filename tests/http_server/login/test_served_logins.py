"""Logins at the whole application: its guard, its headers, and the interface beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.testclient import TestClient

from tests.http_server.login.browser import hidden_fields
from tests.http_server.organisation import BASE, in_file

if TYPE_CHECKING:
    from pathlib import Path

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def test_a_login_reads_the_interface_and_changes_nothing_there(tmp_path: Path) -> None:
    with in_file(tmp_path) as acme:
        browser = TestClient(acme.app, base_url=BASE, follow_redirects=False)
        assert browser.get("/api/v1/me").status_code == 401
        page = browser.get("/login?next=/skills")
        fields = {**hidden_fields(page), "token": acme.token("administrator", user="ann")}
        answer = browser.post("/login", data=fields, headers={"origin": BASE})
        assert (answer.status_code, answer.headers["location"]) == (303, "/skills")
        assert browser.get("/api/v1/me").json()["user"] == "ann"
        block = {"match": {"name": "x"}, "reason": "x"}
        assert browser.post("/api/v1/blocks", json=block, headers={"origin": BASE}).status_code in {403, 404, 405}
        assert browser.post("/login", data=fields, headers={"origin": "https://evil.example"}).status_code == 403
        for shown in (page, answer, browser.get("/login"), browser.post("/logout", data={"x": ""})):
            assert shown.headers["content-security-policy"] == POLICY
            assert shown.headers["cache-control"] == "no-store"
            assert shown.headers["x-content-type-options"] == "nosniff"
            # `no-referrer` would let browsers send `Origin: null` with our own forms.
            assert shown.headers["referrer-policy"] == "same-origin"
