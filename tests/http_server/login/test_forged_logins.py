"""Forged answers of an issuer: each one is refused, recorded with its reason, and leaves nobody logged in."""

from __future__ import annotations

import json
import time
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from msgspec.structs import replace

from prowess.errors import ConfigurationError
from prowess.http_server.login.oidc.issuer import Issuer
from prowess.http_server.login.oidc.settings import OidcSettings
from prowess.http_server.login.settings import LoginSettings
from tests.http_server.login.browser import Browser, Organisation
from tests.http_server.login.issuers import SECRET, ForgingIssuer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Change = Callable[[dict[str, Any]], object]

OWN = "https://skills.example"


@pytest.fixture(scope="module")
def forging() -> Iterator[ForgingIssuer]:
    issuer = ForgingIssuer()
    yield issuer
    issuer.close()


@pytest.fixture
def issuer(forging: ForgingIssuer) -> ForgingIssuer:
    forging.change, forging.make, forging.answer, forging.document = (lambda claims: None), forging.signed, None, None
    forging.metadata, forging.redeemed = {}, []
    return forging


@pytest.fixture
def acme(tmp_path: Path) -> Iterator[Organisation]:
    organisation = Organisation(tmp_path)
    yield organisation
    organisation.database.close()


@pytest.fixture
def browser(acme: Organisation, issuer: ForgingIssuer) -> Browser:
    return Browser(acme.server(LoginSettings(public_url=OWN, oidc=settings_of(issuer))))


def settings_of(issuer: ForgingIssuer) -> OidcSettings:
    return OidcSettings(issuer=issuer.url, origin=OWN, client_id="prowess", client_secret=SECRET)


def attempt(browser: Browser, issuer: ForgingIssuer, **changes: str) -> int:
    """Begin, and come back; return the status."""
    back = issuer.back(browser.get("/login/oidc").headers["location"], **changes)
    return browser.get(back).status_code


def unsigned(claims: dict[str, Any], header: dict[str, Any] | None = None) -> str:
    parts = ({"alg": "none"} if header is None else header, claims)
    return ".".join([*(urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts), ""])


@pytest.mark.parametrize(("alg", "kid"), [("RS256", "rsa"), ("ES256", "ec"), ("Ed25519", "okp")])
def test_an_honest_answer_logs_in(browser: Browser, issuer: ForgingIssuer, alg: str, kid: str) -> None:
    """The other tests change one thing of it."""
    issuer.make = lambda claims: issuer.signed(claims, alg, kid)
    assert attempt(browser, issuer) == 200
    me = browser.me()
    assert me is not None
    assert me["user"] == "ann"
    [request] = issuer.redeemed
    assert len(request["code_verifier"]) == 64
    assert request["redirect_uri"] == f"{OWN}/login/oidc/callback"


def set_to(**values: object) -> Callable[[dict[str, Any]], object]:
    return lambda claims: claims.update(values)


NOW = int(time.time())


@pytest.mark.measured_once
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (set_to(nonce="another"), "nonce"),
        (set_to(nonce=...), "nonce"),
        (set_to(nonce=None), "nonce"),
        (set_to(aud="another"), "audience"),
        (set_to(aud="another", azp="prowess"), "audience"),
        (set_to(aud=["another", "third"], azp="prowess"), "audience"),
        (set_to(aud=["prowess", "another"]), "audience"),  # without azp
        (set_to(aud=["prowess", "another"], azp="another"), "audience"),
        (set_to(azp="another"), "audience"),
        (set_to(aud=...), "audience"),
        (set_to(iss="https://evil.example"), "issuer"),
        (set_to(iss=...), "issuer"),
        (set_to(exp=NOW - 3600), "expiry"),
        (set_to(exp="tomorrow"), "expiry"),
        (set_to(exp=float("nan")), "expiry"),
        (set_to(exp=...), "expiry"),
        (set_to(iat=NOW + 3600), "expiry"),
        (set_to(iat=...), "expiry"),
        (set_to(nbf=NOW + 3600), "expiry"),
        (set_to(sub=...), "claims"),
        (set_to(sub=5), "claims"),
        (set_to(sub=""), "claims"),
        (set_to(sub="a\nb"), "claims"),
        (set_to(groups={"a": 1}), "claims"),
    ],
)
def test_a_token_with_one_wrong_claim_is_refused(
    acme: Organisation, browser: Browser, issuer: ForgingIssuer, change: Change, reason: str
) -> None:
    issuer.change = change
    assert attempt(browser, issuer) == 403
    assert [found for found, _ in acme.failures()] == [reason]
    assert browser.me() is None


def _tampered(issuer: ForgingIssuer, claims: dict[str, Any]) -> str:
    head, body, signature = issuer.signed(claims).split(".")
    other = unsigned({**claims, "sub": "root"}).split(".")[1]
    assert body != other
    return f"{head}.{other}.{signature}"


FORGED: dict[str, tuple[Callable[[ForgingIssuer, dict[str, Any]], str], str]] = {
    "no algorithm": (lambda issuer, claims: unsigned(claims), "algorithm"),
    "no algorithm in capitals": (lambda issuer, claims: unsigned(claims, {"alg": "NONE"}), "algorithm"),
    "a shared secret": (lambda issuer, claims: issuer.with_a_shared_secret(claims), "algorithm"),
    "another key of this name": (lambda issuer, claims: issuer.of_another_key(claims), "signature"),
    "a key in the header": (lambda issuer, claims: issuer.with_its_own_key(claims), "signature"),
    "an unknown key": (lambda issuer, claims: unsigned(claims, {"alg": "RS256", "kid": "other"}), "signature"),
    "another body": (_tampered, "signature"),
    "no token": (lambda issuer, claims: "", "signature"),
    "no text": (lambda issuer, claims: "a.b", "signature"),
    "too long": (lambda issuer, claims: "a" * 200_000, "signature"),
    "not ASCII": (lambda issuer, claims: "ä.ä.ä", "signature"),
    "an unknown critical header": (
        lambda issuer, claims: unsigned(claims, {"alg": "RS256", "kid": "rsa", "crit": ["x"], "x": 1}),
        "signature",
    ),
}  # fmt: skip


@pytest.mark.measured_once
@pytest.mark.parametrize("name", FORGED)
def test_a_token_that_the_issuer_did_not_sign_is_refused(
    acme: Organisation, browser: Browser, issuer: ForgingIssuer, name: str
) -> None:
    make, reason = FORGED[name]
    issuer.make = lambda claims: make(issuer, claims)
    assert attempt(browser, issuer) == 403
    assert [found for found, _ in acme.failures()] == [reason]
    assert browser.me() is None


@pytest.mark.measured_once
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"state": "another"}, "state"),
        ({"state": ""}, "state"),
        ({"state": "x" * 5000}, "state"),
        ({"code": ""}, "code"),
        ({"code": "x" * 5000}, "code"),
        ({"iss": "https://evil.example"}, "issuer"),
        ({"error": "access_denied"}, "denied"),
        ({"error": "<script>\n"}, "denied"),
    ],
)
def test_a_way_back_that_is_not_the_one_of_this_attempt_is_refused(
    acme: Organisation, browser: Browser, issuer: ForgingIssuer, changes: dict[str, str], reason: str
) -> None:
    assert attempt(browser, issuer, **changes) == 403
    assert [found for found, _ in acme.failures()] == [reason]
    assert issuer.redeemed == []
    assert browser.me() is None


def test_an_issuer_that_names_itself_has_to_do_so(browser: Browser, issuer: ForgingIssuer) -> None:
    issuer.metadata = {"authorization_response_iss_parameter_supported": True}
    assert attempt(browser, issuer) == 403
    assert attempt(browser, issuer, iss=issuer.url) == 200


def test_an_attempt_ends_after_ten_minutes_and_counts_without_its_cookie_never(
    acme: Organisation, issuer: ForgingIssuer
) -> None:
    server = acme.server(LoginSettings(public_url=OWN, oidc=settings_of(issuer)))
    at = [time.time()]
    server.logins.clock = lambda: at[0]
    browser = Browser(server)
    back = issuer.back(browser.get("/login/oidc").headers["location"])
    at[0] += 600
    assert browser.get(back).status_code == 403
    back = issuer.back(browser.get("/login/oidc").headers["location"])
    browser.client.cookies.clear()
    assert browser.get(back).status_code == 403
    assert acme.failures() == [("state", "unknown, used or too old"), ("state", "of another browser")]


ANSWERS: dict[str, Callable[[str], tuple[int, dict[str, str], bytes]]] = {
    "an error": lambda token: (400, {}, b'{"error": "invalid_grant", "error_description": "\xc3\xa4 <b>"}'),
    "a page": lambda token: (200, {}, b"<html>"),
    "a failure": lambda token: (500, {}, b"{}"),
    "no token": lambda token: (200, {}, b'{"access_token": "x", "token_type": "Bearer"}'),
    "another type": lambda token: (200, {}, b'{"id_token": 5}'),
    "a list": lambda token: (200, {}, b"[]"),
    "too much": lambda token: (200, {}, b" " * 300_000),
    "another server": lambda token: (307, {"location": "http://127.0.0.2:9/token"}, b""),
    "nothing": lambda token: (200, {"content-length": "100"}, b""),
}


@pytest.mark.measured_once
@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_is_no_token_is_refused(
    acme: Organisation, browser: Browser, issuer: ForgingIssuer, name: str
) -> None:
    issuer.answer = ANSWERS[name]
    assert attempt(browser, issuer) in {403, 503}
    [(reason, detail)] = acme.failures()
    assert reason in {"code", "claims", "issuer", "unavailable"}
    assert SECRET not in detail
    assert browser.me() is None


def test_keys_are_read_anew_for_an_unknown_name_and_not_more_than_once_a_minute(
    browser: Browser, issuer: ForgingIssuer
) -> None:
    issuer.reads = 0
    issuer.document = json.dumps(
        {"keys": [key for key in issuer.keys.as_dict()["keys"] if key["kid"] == "ec"]}
    ).encode()
    for _ in range(3):
        assert attempt(browser, issuer) == 403
    assert issuer.reads == 1
    issuer.document = None
    issuer.make = lambda claims: issuer.signed(claims, "ES256", "ec")
    assert attempt(browser, issuer) == 200
    assert issuer.reads == 1


@pytest.mark.measured_once
@pytest.mark.parametrize(
    "document", [b"", b"[]", b'{"keys": 5}', b'{"keys": [{"kty": "RSA", "kid": "rsa", "n": "AQAB"}]}']
)
def test_keys_that_cannot_be_read_let_nobody_in(browser: Browser, issuer: ForgingIssuer, document: bytes) -> None:
    issuer.document = document
    if document:
        assert attempt(browser, issuer) == 403


@pytest.mark.measured_once
@pytest.mark.parametrize(
    ("metadata", "why"),
    [
        ({"code_challenge_methods_supported": ["plain"]}, "PKCE with S256"),
        ({"code_challenge_methods_supported": None}, "cannot be read"),
        ({"response_types_supported": ["id_token"]}, "authorization code flow"),
        ({"id_token_signing_alg_values_supported": ["none", "HS256"]}, "signs ID tokens with none of"),
        ({"token_endpoint_auth_methods_supported": ["private_key_jwt"]}, "client_secret_basic"),
        ({"issuer": "https://evil.example"}, "names itself 'https://evil.example'"),
        ({"token_endpoint": "http://evil.example/token"}, "http is allowed on this machine only"),
        ({"jwks_uri": "file:///etc/passwd"}, "not an http or https URL"),
        ({"authorization_endpoint": "https://user:pass@evil.example/"}, "must not hold a user name or password"),
        ({"authorization_endpoint": "https://evil.example/"}, "must use https too"),
    ],
)
def test_an_issuer_without_what_a_login_needs_is_refused(
    acme: Organisation, browser: Browser, issuer: ForgingIssuer, metadata: dict[str, Any], why: str
) -> None:
    issuer.metadata = metadata
    with pytest.raises(ConfigurationError, match=why):
        Issuer(settings_of(issuer)).metadata()
    assert browser.get("/login/oidc").status_code == 403
    assert [reason for reason, _ in acme.failures()] == ["issuer"]


def test_an_address_does_not_begin_attempts_without_end(acme: Organisation, issuer: ForgingIssuer) -> None:
    server = acme.server(LoginSettings(public_url=OWN, oidc=settings_of(issuer)))
    server.logins.clock = lambda: 1_900_000_000.0  # one minute, however long the test takes
    browser = Browser(server)
    assert {browser.get("/login/oidc").status_code for _ in range(60)} == {303}
    assert browser.get("/login/oidc").status_code == 429


def test_an_address_that_the_issuer_did_not_verify_names_nobody(acme: Organisation, issuer: ForgingIssuer) -> None:
    oidc = replace(settings_of(issuer), user_claim="email")
    browser = Browser(acme.server(LoginSettings(public_url=OWN, oidc=oidc)))
    for verified in (False, "true", 1, ...):
        issuer.change = set_to(email="root@acme.example", email_verified=verified)
        assert attempt(browser, issuer) == 403
    assert acme.failures() == [("claims", "the e-mail address is not verified")] * 4
    issuer.change = set_to(email="ann@acme.example", email_verified=True)
    assert attempt(browser, issuer) == 200


def test_a_picture_or_a_frame_of_another_site_begins_nothing_and_counts_as_no_failure(
    acme: Organisation, browser: Browser, issuer: ForgingIssuer
) -> None:
    for kind in ("image", "iframe", "empty"):
        for path in ("/login/oidc", "/login/oidc/callback?state=x&code=x"):
            assert {browser.get(path, sec_fetch_dest=kind).status_code for _ in range(4)} == {403}
    assert acme.failures() == []
    assert attempt(browser, issuer) == 200


def test_a_planted_login_is_not_used_by_the_callback(
    acme: Organisation, browser: Browser, issuer: ForgingIssuer
) -> None:
    planted = "A" * 43
    browser.set_cookie("__Host-prowess_login", planted)
    assert attempt(browser, issuer) == 200
    assert planted not in dict(browser.client.cookies).values()
    query = parse_qs(urlsplit(browser.get("/login/oidc").headers["location"]).query)
    assert planted not in str(query)


def test_an_issuer_that_fails_is_not_asked_again_at_once(acme: Organisation, issuer: ForgingIssuer) -> None:
    at = [time.time()]
    asked = Issuer(settings_of(issuer), lambda: at[0])
    issuer.metadata = {"code_challenge_methods_supported": []}
    with pytest.raises(ConfigurationError):
        asked.metadata()
    issuer.metadata = {}
    with pytest.raises(ConfigurationError):
        asked.metadata()
    at[0] += 6
    assert asked.metadata().issuer == issuer.url
    assert asked.unreachable() is None
