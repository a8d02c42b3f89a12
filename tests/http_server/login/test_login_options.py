"""Options of `prowess admin serve` about logins: what does not fit together is refused before anything is served."""

from __future__ import annotations

import os
import urllib.request
from typing import TYPE_CHECKING

import pytest

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.cli.options.login_options import LoginOptions
from tests.http_server.login.browser import Organisation
from tests.http_server.login.issuers import ForgingIssuer
from tests.http_server.test_serve_command import served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OIDC = ("--oidc", "https://login.example", "--client-id", "prowess")


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A store; the working directory has a file that is not private, and an empty one."""
    monkeypatch.chdir(tmp_path)
    for name, text, mode in (("open", "secret", 0o644), ("empty", "\n", 0o600)):
        (tmp_path / name).write_text(text)
        os.chmod(name, mode)
    organisation = Organisation(tmp_path)
    yield organisation.url
    organisation.database.close()


@pytest.mark.measured_once
@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--public-url", "https://skills.example/path"), "give scheme, host and port alone"),
        (("--public-url", "https://skills.example/?x"), "give scheme, host and port alone"),
        (("--public-url", "http://skills.example"), "use https"),
        (("--public-url", "skills.example"), "not an http or https URL"),
        (("--client-id", "prowess"), "need --oidc ISSUER"),
        (("--oidc", "https://login.example"), "needs --client-id"),
        (("--oidc", "http://login.example", *OIDC[2:]), "use https"),
        (("--oidc", "https://login.example/?x", *OIDC[2:]), "no query and no fragment"),
        ((*OIDC, "--http", "127.0.0.1:0"), "the issuer must know the address"),
        ((*OIDC, "--client-secret-file", "open"), "it is not private"),
        ((*OIDC, "--client-secret-file", "empty"), "holds no secret"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    url: str, options: tuple[str, ...], part: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["admin", "serve", "--store", url, *options]) == exit_codes.USAGE
    assert part in capfd.readouterr().err


def test_an_issuer_without_pkce_keeps_the_server_from_starting(url: str, capfd: pytest.CaptureFixture[str]) -> None:
    issuer = ForgingIssuer()
    issuer.metadata = {"code_challenge_methods_supported": ["plain"]}
    try:
        options = ("--oidc", issuer.url, "--client-id", "prowess", "--public-url", "https://skills.example")
        assert run(["admin", "serve", "--store", url, *options]) == exit_codes.USAGE
    finally:
        issuer.close()
    assert "does not support PKCE with S256" in capfd.readouterr().err


def test_the_options_become_settings(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.touch(0o600)
    secret.write_text("a secret\n")
    given = LoginOptions(
        public_url=None,
        issuer="https://login.example/tenant/",
        client_id="prowess",
        client_secret_file=str(secret),
        client_auth="post",
        user_claim="email",
        groups_claim="roles",
        tenant_claim="tenant",
        team_claim="team",
        scopes=("email",),
    )
    found = given.settings("::1", 8420)
    assert found.public_url is None
    assert found.oidc is not None
    assert (found.oidc.issuer, found.oidc.client_secret) == ("https://login.example/tenant/", "a secret")
    assert found.oidc.redirect_uri == "http://[::1]:8420/login/oidc/callback"


@pytest.mark.unmeasured
def test_while_the_issuer_cannot_be_reached_people_log_in_with_tokens(url: str) -> None:
    options = ("--oidc", "http://127.0.0.1:9", "--client-id", "prowess", "--public-url", "https://skills.example")
    with served(url, *options) as (_, address, before):
        assert "people cannot log in by the issuer until it can be used" in "".join(before)
        request = urllib.request.Request(f"{address}/login", headers={"host": "skills.example"})  # noqa: S310 -- http
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 -- http
            text, cookie = answer.read().decode(), answer.headers["set-cookie"]
        assert 'href="https://skills.example/login/oidc"' in text
        assert cookie.startswith("__Host-prowess_form=")
