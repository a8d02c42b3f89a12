"""Logins by a token in a form: begun, limited, ended, and bound to their browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.errors import AuditError, StoreError
from prowess.governance.login_log import LoginOrigin
from prowess.http_server.login.browser_logins import NewLogin
from prowess.http_server.login.settings import LoginSettings
from prowess.store.shared.decisions import SharedPolicyStore
from prowess.store.shared.tokens import SharedTokenStore
from tests.http_server.login.browser import ORIGIN, Browser, Organisation, hidden_fields

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from prowess.http_server.login.login_server import LoginServer

COOKIE = "__Host-prowess_login"


class Clock:
    """The time of a server, which a test moves."""

    def __init__(self) -> None:
        self.at = 1_900_000_000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def acme(tmp_path: Path) -> Iterator[Organisation]:
    organisation = Organisation(tmp_path)
    yield organisation
    organisation.database.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(acme: Organisation, clock: Clock) -> LoginServer:
    server = acme.server()
    server.logins.clock = clock
    return server


def test_a_person_logs_in_with_a_token_and_out_again_and_both_are_recorded(
    acme: Organisation, server: LoginServer
) -> None:
    token = acme.token("approver", team="platform")
    browser = Browser(server)
    assert browser.me() is None
    answer = browser.log_in(token.text, "/approvals?state=waiting")
    assert (answer.status_code, answer.headers["location"]) == (303, "/approvals?state=waiting")
    cookie = next(one for one in answer.headers.get_list("set-cookie") if one.startswith(COOKIE))
    assert {"HttpOnly", "Path=/", "SameSite=strict", "Secure"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    me = browser.me()
    assert me is not None
    known = {name: me[name] for name in ("user", "roles", "tenant", "team", "by")}
    assert known == {"user": "ann", "roles": ["approver"], "tenant": "default", "team": "platform", "by": "login"}
    assert browser.get("/login?next=/skills").headers["location"] == "/skills"  # no form for who is known

    assert browser.post("/logout", {"csrf": browser.csrf()}).headers["location"] == "/login"
    assert browser.me() is None
    told = acme.records("default")
    assert [kind for kind, _ in told] == ["governance.login", "governance.logout"]
    assert (
        told[0][1].items() >= {"user": "ann", "means": "token", "address": "testclient", "roles": ["approver"]}.items()
    )
    assert token.text not in str(told)


def test_a_login_that_ended_is_not_replayed(acme: Organisation, server: LoginServer) -> None:
    browser = Browser(server)
    browser.log_in(acme.token().text)
    kept = browser.client.cookies[COOKIE]
    browser.post("/logout", {"csrf": browser.csrf()})
    browser.set_cookie(COOKIE, kept)
    assert browser.me() is None


def test_the_store_has_no_secret_of_a_login(acme: Organisation, server: LoginServer, tmp_path: Path) -> None:
    browser = Browser(server)
    token = acme.token()
    browser.log_in(token.text)
    acme.database.close()
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    for secret in (token.text, browser.client.cookies[COOKIE]):
        assert secret.encode() not in stored


def test_a_removed_token_ends_its_logins_at_the_next_request(acme: Organisation, server: LoginServer) -> None:
    token, other = acme.token(), acme.token(user="ben")
    ann, ben = Browser(server), Browser(server)
    ann.log_in(token.text)
    ben.log_in(other.text)
    acme.remove(token)
    assert ann.me() is None
    assert ben.me() is not None


def test_an_administrator_ends_all_logins_of_a_person(
    acme: Organisation, server: LoginServer, capfd: pytest.CaptureFixture[str]
) -> None:
    browsers = [Browser(server) for _ in range(3)]
    for browser, user in zip(browsers, ("ann", "ann", "ben"), strict=True):
        browser.log_in(acme.token(user=user).text)
    assert run(["admin", "logout", "ann", "--store", acme.url]) == exit_codes.OK
    assert capfd.readouterr().out == "Ended 2 logins of ann\n"
    assert [browser.me() is not None for browser in browsers] == [False, False, True]


def test_a_login_ends_with_its_token_and_not_later(acme: Organisation, server: LoginServer, clock: Clock) -> None:
    token = acme.token()
    store = SharedTokenStore(acme.database)
    short = replace(token.token, id="short", expires_at=clock.at + 60)
    assert store.add_token(short, b"s" * 32)
    secret = server.logins.begin(_new(short.user, "default", "short"))
    assert server.logins.find(secret) is not None
    clock.at += 60
    assert server.logins.find(secret) is None


def test_a_login_ends_when_it_is_not_used_and_after_its_longest_time(
    acme: Organisation, server: LoginServer, clock: Clock
) -> None:
    browser = Browser(server)
    token = acme.token()
    browser.log_in(token.text)
    settings = server.settings
    clock.at += settings.idle - 1
    assert browser.me() is not None
    clock.at += settings.idle - 1
    assert browser.me() is not None
    clock.at += settings.idle
    assert browser.me() is None

    browser.log_in(token.text)
    begun = clock.at
    while clock.at + settings.idle - 1 < begun + settings.longest:
        clock.at += settings.idle - 1
        assert browser.me() is not None
    clock.at = begun + settings.longest
    assert browser.me() is None


@pytest.mark.measured_once
@pytest.mark.parametrize("text", ["", "prowess_unknown", "x" * 201, "prowess_\x00", "naïve", "\ud800"])
def test_an_unknown_token_is_refused_and_recorded(acme: Organisation, server: LoginServer, text: str) -> None:
    browser = Browser(server)
    fields = hidden_fields(browser.get("/login"))
    answer = browser.post("/login", {**fields, "token": text.encode("utf-8", "replace").decode()})
    assert answer.status_code == 403
    assert "This token is not valid" in answer.text
    assert acme.failures() == [("token", "")]
    assert text == "" or text not in str(acme.records())
    assert browser.me() is None


def test_the_token_of_a_machine_logs_nobody_in(acme: Organisation, server: LoginServer) -> None:
    token = acme.token("machine")
    answer = Browser(server).log_in(token.text)
    assert answer.status_code == 403
    assert "the token of a machine" in answer.text
    assert acme.failures() == [("machine", f"token {token.token.id}")]


def test_an_address_that_fails_too_often_waits_and_successes_do_not_count(
    acme: Organisation, server: LoginServer, clock: Clock
) -> None:
    browser, token = Browser(server), acme.token()
    for _ in range(15):
        assert Browser(server).log_in(token.text).status_code == 303
    for _ in range(10):
        assert browser.log_in("prowess_wrong").status_code == 403
    refused = [browser.log_in(token.text) for _ in range(3)]
    assert {answer.status_code for answer in refused} == {429}
    assert refused[0].headers["retry-after"] == "60"
    assert [reason for reason, _ in acme.failures()] == ["token"] * 10 + ["limit"]
    clock.at += 60
    assert browser.log_in(token.text).status_code == 303


def test_a_login_that_cannot_be_recorded_is_none(acme: Organisation, server: LoginServer) -> None:
    token = acme.token()
    acme.database.run(lambda db: db.exec_driver_sql("DROP TABLE audit_inbox"))
    with pytest.raises(AuditError):
        server.log_in_with_token(token.text, LoginOrigin("address", None))
    assert acme.database.run(lambda db: db.exec_driver_sql("SELECT count(*) FROM logins").scalar_one()) == 0


def test_a_policy_that_cannot_be_read_lets_nobody_of_the_issuer_in(acme: Organisation, server: LoginServer) -> None:
    secret = server.logins.begin(NewLogin(user="ann", tenant="default", issuer="https://login.example"))
    SharedPolicyStore(acme.database.of_tenant("default")).put_policy("bad", "[roles]\nking = 5\n", by="x", at="x")
    with pytest.raises(StoreError, match="a policy cannot be read"):
        server.logins.find(secret)


def test_a_body_that_is_no_form_is_refused(acme: Organisation, server: LoginServer) -> None:
    client = Browser(server).client
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/login", json={"token": "x"}).status_code == 415
    assert client.post("/login", content="token=%ff", headers=form).status_code == 400
    assert client.post("/login", content="&".join(["a=b"] * 201), headers=form).status_code == 400
    assert client.post("/login", content="token=\u00e4".encode(), headers=form).status_code == 400


@pytest.mark.measured_once
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"csrf": "x"}, "csrf"),
        ({"csrf": ""}, "csrf"),
        ({"csrf": "naïve"}, "csrf"),
        ({"origin": "https://evil.example"}, "origin"),
        ({"origin": "null"}, "origin"),
        ({"origin": "http://skills.example"}, "origin"),
        ({"origin": "https://skills.example:444"}, "origin"),
        ({"origin": ""}, "origin"),
        ({"cookie": ""}, "no cookie of the form"),
    ],
)
def test_a_login_form_of_another_site_is_refused(
    acme: Organisation, server: LoginServer, change: dict[str, str], why: str
) -> None:
    browser, token = Browser(server), acme.token()
    fields = hidden_fields(browser.get("/login")) | {"token": token.text}
    if "csrf" in change:
        fields["csrf"] = change["csrf"]
    if "cookie" in change:
        browser.client.cookies.clear()
    answer = browser.post("/login", fields, origin=change.get("origin", ORIGIN) or "")
    assert answer.status_code == 403
    assert browser.me() is None
    assert acme.failures() == [("form", why)]


def test_forms_of_a_login_need_their_value_and_their_origin(acme: Organisation, server: LoginServer) -> None:
    ann, ben = Browser(server), Browser(server)
    ann.log_in(acme.token().text)
    ben.log_in(acme.token(user="ben").text)
    assert ann.post("/change", {"csrf": ann.csrf()}).json() == "changed"
    assert ann.post("/change", {"csrf": ben.csrf()}).json() == "csrf"
    assert ann.post("/change", {"other": "x"}).json() == "csrf"
    assert ann.post("/change", {"csrf": ann.csrf()}, origin="https://evil.example").json() == "origin"
    assert Browser(server).post("/change", {"csrf": ""}).json() == "origin"  # nobody is logged in
    assert ann.post("/logout", {"csrf": ben.csrf()}).status_code == 403
    assert ann.me() is not None


def test_a_secret_that_was_planted_before_the_login_is_not_used(acme: Organisation, server: LoginServer) -> None:
    browser, planted = Browser(server), "A" * 43
    fields = hidden_fields(browser.get("/login"))
    browser.set_cookie(COOKIE, planted)
    browser.post("/login", {**fields, "token": acme.token().text})
    assert planted not in dict(browser.client.cookies).values()
    assert server.logins.find(planted) is None
    assert browser.me() is not None


def test_a_new_login_ends_the_one_before_it_in_this_browser(acme: Organisation, server: LoginServer) -> None:
    browser, token = Browser(server), acme.token()
    browser.log_in(token.text)
    first = browser.client.cookies[COOKIE]
    fields = hidden_fields(Browser(server).get("/login"))
    browser.set_cookie("__Host-prowess_form", fields["csrf"])
    browser.post("/login", {**fields, "token": acme.token(user="ben").text})
    assert server.logins.find(first) is None
    me = browser.me()
    assert me is not None
    assert me["user"] == "ben"


@pytest.mark.measured_once
@pytest.mark.parametrize(
    "wanted",
    [
        *(
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/%0d%0aset-cookie:x",
            "evil",
        ),
        *("javascript:alert(1)", "/a//evil.example", "/\t/evil.example", "/a b", "/ä", "", "/" + "x" * 3000),
    ],
)
def test_a_login_leads_to_no_other_server(acme: Organisation, server: LoginServer, wanted: str) -> None:
    browser = Browser(server)
    fields = hidden_fields(browser.get("/login"))
    answer = browser.post("/login", {**fields, "next": wanted, "token": acme.token().text})
    assert answer.status_code == 303
    assert answer.headers["location"] in {"/", "/%0d%0aset-cookie:x"}  # the latter is a path of ours, still escaped
    assert set(answer.headers) <= {"location", "content-length", "set-cookie"}


def test_a_link_of_another_site_leads_on_from_our_own_page(acme: Organisation, server: LoginServer) -> None:
    browser = Browser(server)
    answer = browser.get("/login?next=/approvals%3Fid%3D1%26x%3D%22", sec_fetch_site="cross-site")
    assert '<meta http-equiv="refresh" content="0; url=/login?next=/approvals%3Fid%3D1%26x%3D' in answer.text.replace(
        "&#34;", '"'
    )
    assert "<form" in browser.get("/login?next=/", sec_fetch_site="same-origin").text


def test_without_https_cookies_have_no_prefix_and_the_origin_is_that_of_the_request(acme: Organisation) -> None:
    browser = Browser(acme.server(LoginSettings()), "http://127.0.0.1:8080")
    answer = browser.log_in(acme.token().text)
    assert answer.status_code == 303
    assert "Secure" not in answer.headers["set-cookie"]
    assert "prowess_login" in browser.client.cookies
    assert browser.me() is not None


def test_the_value_of_one_kind_of_cookie_is_no_login(acme: Organisation, server: LoginServer) -> None:
    browser = Browser(server)
    state = server.logins.attempt("browser", nonce="n", verifier="v", next_path="/")
    for value in (state, "browser", "", "x" * 10_000):
        browser.client.cookies.clear()
        browser.set_cookie(COOKIE, value)
        assert browser.me() is None
    assert server.logins.take_attempt("browser") is None
    secret = server.logins.begin(_new("ann", "default", acme.token().token.id))
    assert server.logins.take_attempt(secret) is None
    assert server.logins.find(secret) is not None
    assert server.logins.take_attempt(state) is not None
    assert server.logins.take_attempt(state) is None


def _new(user: str, tenant: str, token_id: str) -> NewLogin:
    return NewLogin(user=user, tenant=tenant, token_id=token_id)
