"""Logins by an issuer: the certified one of npm for what must work, and one that forges for what must not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import httpx2
import pytest

from prowess.http_server.login.oidc.settings import OidcSettings
from prowess.http_server.login.settings import LoginSettings
from prowess.store.shared.decisions import SharedPolicyStore
from tests.http_server.login.browser import Browser, Organisation
from tests.http_server.login.issuers import SECRET, Visitor, certified_issuer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OWN = "http://127.0.0.1:8420"
CALLBACK = f"{OWN}/login/oidc/callback"


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with certified_issuer(CALLBACK) as address:
        yield address


@pytest.fixture
def acme(tmp_path: Path) -> Iterator[Organisation]:
    organisation = Organisation(tmp_path)
    yield organisation
    organisation.database.close()


def browser_at(acme: Organisation, issuer: str, client: str = "prowess", **further: Any) -> Browser:  # noqa: ANN401 -- settings by name
    known: dict[str, Any] = {"client_secret": SECRET, "user_claim": "name", **further}
    oidc = OidcSettings(issuer=issuer, origin=OWN, client_id=client, **known)
    return Browser(acme.server(LoginSettings(public_url=OWN, oidc=oidc)), OWN)


def logged_in(url: str, account: str) -> str:
    with Visitor() as visitor:
        return visitor.log_in(url, account)


@pytest.mark.parametrize(
    ("client", "further"),
    [
        ("prowess", {}),
        ("prowess-post", {"client_auth": "post"}),
        ("prowess-es256", {}),
        ("prowess-eddsa", {}),
        ("prowess-public", {"client_secret": None}),
    ],
)
def test_a_person_logs_in_with_each_signature_and_each_kind_of_client(
    acme: Organisation, issuer: str, client: str, further: dict[str, Any]
) -> None:
    browser = browser_at(acme, issuer, client, **further)
    begun = browser.get("/login/oidc?next=/skills")
    asked = parse_qs(urlsplit(begun.headers["location"]).query)
    assert (asked["code_challenge_method"], asked["redirect_uri"], asked["scope"]) == (["S256"], [CALLBACK], ["openid"])
    assert len(asked["code_challenge"][0]) == 43
    assert "samesite=lax" in begun.headers["set-cookie"].casefold()
    back = logged_in(begun.headers["location"], "ann:platform,writers")
    answer = browser.get(back)
    assert answer.status_code == 200
    assert '<meta http-equiv="refresh" content="0; url=/skills">' in answer.text
    me = browser.me()
    assert me is not None
    assert (me["user"], me["roles"], me["tenant"], me["by"]) == ("ann", ["viewer"], "default", "login")
    [(kind, data)] = acme.records("default")
    assert kind == "governance.login"
    assert data.items() >= {"user": "ann", "means": "oidc", "issuer": issuer, "identified_by": "login"}.items()
    code = parse_qs(urlsplit(back).query)["code"][0]
    assert not {secret for secret in (code, SECRET) if secret in str(data)}


def test_without_the_verifier_of_its_browser_a_code_is_refused(acme: Organisation, issuer: str) -> None:
    """A stolen code is of no use: the issuer wants what only the server knows that began."""
    browser = browser_at(acme, issuer)
    back = logged_in(browser.get("/login/oidc").headers["location"], "ann")
    form = {
        "grant_type": "authorization_code",
        "code": parse_qs(urlsplit(back).query)["code"][0],
        "redirect_uri": CALLBACK,
    }
    for further in ({}, {"code_verifier": "v" * 64}):
        answer = httpx2.post(f"{issuer}/token", data={**form, **further}, auth=("prowess", quote(SECRET, safe="")))
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
    request = browser.get("/login/oidc").headers["location"]
    bare = urlsplit(request)
    query = {name: value for name, (value,) in parse_qs(bare.query).items() if not name.startswith("code_challenge")}
    with Visitor() as visitor:
        refused = visitor.followed(f"{issuer}{bare.path}?{urlencode(query)}")
    assert "error=invalid_request" in refused
    assert "PKCE" in refused


def test_a_code_is_used_once(acme: Organisation, issuer: str) -> None:
    browser, other = browser_at(acme, issuer), browser_at(acme, issuer)
    back = logged_in(browser.get("/login/oidc").headers["location"], "ann")
    assert browser.get(back).status_code == 200
    assert browser.get(back).status_code == 403  # its state is used
    used = parse_qs(urlsplit(back).query)["code"][0]
    begun = other.get("/login/oidc").headers["location"]
    state = parse_qs(urlsplit(begun).query)["state"][0]
    answer = other.get(f"/login/oidc/callback?{urlencode({'state': state, 'code': used, 'iss': issuer})}")
    assert answer.status_code == 403
    assert other.me() is None
    assert acme.failures() == [("state", "unknown, used or too old"), ("code", "invalid_grant")]


def test_the_issuer_leads_nowhere_else_and_the_redirect_uri_is_never_that_of_a_request(
    acme: Organisation, issuer: str
) -> None:
    browser = browser_at(acme, issuer)
    begun = browser.get("/login/oidc?redirect_uri=https://evil.example&next=//evil.example", host="evil.example")
    url = begun.headers["location"]
    assert parse_qs(urlsplit(url).query)["redirect_uri"] == [CALLBACK]
    foreign = url.replace("127.0.0.1%3A8420", "127.0.0.1%3A8421")
    assert foreign != url
    with Visitor() as visitor:
        assert "redirect_uri did not match any of the client" in visitor.followed(foreign)
        back = visitor.log_in(url, "ann")
    assert '<meta http-equiv="refresh" content="0; url=/">' in browser.get(back).text


def test_a_person_whom_the_issuer_refuses_is_not_logged_in(acme: Organisation, issuer: str) -> None:
    browser = browser_at(acme, issuer)
    back = logged_in(browser.get("/login/oidc").headers["location"], "refused")
    answer = browser.get(back)
    assert answer.status_code == 403
    assert "The issuer did not log you in." in answer.text
    assert acme.failures() == [("denied", "access_denied")]


def test_a_token_that_is_signed_with_the_secret_of_the_client_is_refused(acme: Organisation, issuer: str) -> None:
    browser = browser_at(acme, issuer, "prowess-hs256")
    back = logged_in(browser.get("/login/oidc").headers["location"], "ann")
    assert browser.get(back).status_code == 403
    assert [reason for reason, _ in acme.failures()] == ["algorithm"]


def test_a_callback_counts_only_in_the_browser_that_began(acme: Organisation, issuer: str) -> None:
    """Else somebody could log others in to an account of their own."""
    ann, ben = browser_at(acme, issuer), browser_at(acme, issuer)
    back = logged_in(ann.get("/login/oidc").headers["location"], "ann")
    ben.get("/login/oidc")
    assert ben.get(back).status_code == 403
    assert ben.me() is None
    assert ann.get(back).status_code == 403  # the code was shown to somebody else
    assert acme.failures()[0] == ("state", "of another browser")


def test_groups_become_roles_by_the_policies_of_this_moment(acme: Organisation, issuer: str) -> None:
    browser = browser_at(acme, issuer)
    policies = SharedPolicyStore(acme.database.of_tenant("default"))

    def put(name: str, toml: str) -> None:
        policies.put_policy(name, toml, by="ada", at="2026-11-29T00:00:00Z")

    def roles() -> list[str] | None:
        me = browser.me()
        return None if me is None else me["roles"]

    put("roles", '[roles]\nothers = "user"\nadministrator = { groups = ["platform"] }\nauthor = { users = ["ann"] }\n')
    back = logged_in(browser.get("/login/oidc").headers["location"], "ann:platform,writers")
    browser.get(back)
    assert roles() == ["administrator"]
    put("roles", '[roles]\nauthor = { groups = ["writers"] }\napprover = { groups = ["platform"] }\n')
    assert roles() == ["author", "approver"]
    SharedPolicyStore(acme.database).put_policy("all", '[roles]\nauthor = { users = ["ann"] }\n', by="ada", at="x")
    assert roles() == ["author"]
    put("roles", "[roles]\n")
    assert roles() == ["user"]
    policies.remove_policy("roles")
    SharedPolicyStore(acme.database).remove_policy("all")
    assert roles() == ["viewer"]


@pytest.mark.measured_once
@pytest.mark.parametrize(
    ("account", "further", "why"),
    [
        ("ann::nobody", {"tenant_claim": "tenant"}, ("tenant", "unknown tenant 'nobody'")),
        ("ann::*", {"tenant_claim": "tenant"}, ("tenant", "unknown tenant '*'")),
        ("ann", {"tenant_claim": "tenant"}, ("tenant", "no tenant")),
        ("ann", {"user_claim": "upn"}, ("claims", "no claim upn")),
        ("ann", {"groups_claim": "email_verified"}, ("claims", "the claim email_verified is no list of texts")),
        ("a\u202en", {}, ("claims", "the claim name is no short text")),
        ("a" * 201, {}, ("claims", "the claim name is no short text")),
    ],
)
def test_claims_that_do_not_say_who_somebody_is_are_refused(
    acme: Organisation, issuer: str, account: str, further: dict[str, Any], why: tuple[str, str]
) -> None:
    browser = browser_at(acme, issuer, **further)
    back = logged_in(browser.get("/login/oidc").headers["location"], account)
    assert browser.get(back).status_code == 403
    assert acme.failures() == [why]
    assert browser.me() is None


def test_the_tenant_of_a_claim_is_the_tenant_of_the_login(acme: Organisation, issuer: str) -> None:
    browser = browser_at(acme, issuer, tenant_claim="tenant", user_claim="email", team_claim="name")
    browser.get(logged_in(browser.get("/login/oidc").headers["location"], "ann::default"))
    me = browser.me()
    assert me is not None
    assert (me["user"], me["tenant"], me["team"]) == ("ann@example.com", "default", "ann")
