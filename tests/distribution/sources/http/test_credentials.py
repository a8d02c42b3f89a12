"""Credentials: where they are found, for which server, and that no text repeats them."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import pytest

from prowess.distribution.sources.http.addresses import address_of
from prowess.distribution.sources.http.credentials import Credentials
from prowess.errors import DistributionError

if TYPE_CHECKING:
    from pathlib import Path

PLANTED = "planted-secret"
BASIC = f"Basic {base64.b64encode(f'me:{PLANTED}'.encode()).decode()}"
SITE = address_of("https://skills.example.com/")
REGISTRY = address_of("http://localhost:5000/")


def test_a_variable_belongs_to_one_server_alone() -> None:
    held = Credentials({"PROWESS_TOKEN_SKILLS_EXAMPLE_COM": PLANTED, "PROWESS_LOGIN_A__B_C": f"me:{PLANTED}"})
    assert held.for_server(SITE) == f"Bearer {PLANTED}"
    assert held.for_server(address_of("https://a-b.c/")) == BASIC
    assert held.for_server(address_of("https://skills-example.com/")) is None
    assert held.for_server(address_of("https://skills.example.com:444/")) is None


def test_netrc_is_read_for_the_exact_machine_and_default_is_not_used(own_home: Path) -> None:
    lines = f"machine skills.example.com login me password {PLANTED}\ndefault login x password y"
    (own_home / ".netrc").write_text(lines)
    assert Credentials().for_server(SITE) == BASIC
    assert Credentials().for_server(address_of("https://example.com/")) is None


def test_a_broken_netrc_is_named_with_its_line_and_without_its_content(own_home: Path) -> None:
    (own_home / ".netrc").write_text(f"machine a login b password {PLANTED}\nmachin {PLANTED}\n")
    with pytest.raises(DistributionError, match=r"\.netrc, line 2") as failed:
        Credentials().for_server(SITE)
    assert PLANTED not in str(failed.value)


@pytest.mark.parametrize("text", [f"no-colon-{PLANTED}", f"me:{PLANTED}\nx: y", f"me:{PLANTED}é"])
def test_a_variable_that_cannot_be_sent_is_named_without_its_value(text: str) -> None:
    with pytest.raises(DistributionError, match="PROWESS_LOGIN_SKILLS_EXAMPLE_COM") as failed:
        Credentials({"PROWESS_LOGIN_SKILLS_EXAMPLE_COM": text}).for_server(SITE)
    assert PLANTED not in str(failed.value)


def _configured(home: Path, configuration: object) -> Credentials:
    place = home / ".docker"
    place.mkdir(exist_ok=True)
    (place / "config.json").write_text(json.dumps(configuration))
    return Credentials()


def _helper(home: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    programs = home / "bin"
    programs.mkdir()
    (programs / "docker-credential-test").write_text(f"#!/bin/sh\n{script}\n")
    (programs / "docker-credential-test").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")


@pytest.mark.parametrize("key", ["localhost:5000", "http://localhost:5000"])
def test_a_login_of_docker_is_used_for_its_registry(own_home: Path, key: str) -> None:
    auth = base64.b64encode(f"me:{PLANTED}".encode()).decode()
    held = _configured(own_home, {"auths": {key: {"auth": auth}, "other": {}}})
    login = held.for_registry(REGISTRY)
    assert login is not None
    assert login.basic == BASIC
    assert PLANTED not in repr(login)
    assert held.for_registry(SITE) is None


def test_an_identity_token_of_docker_is_kept_apart_from_a_password(own_home: Path) -> None:
    login = _configured(own_home, {"auths": {"localhost:5000": {"identitytoken": PLANTED}}}).for_registry(REGISTRY)
    assert login is not None
    assert (login.identity_token, login.password) == (PLANTED, "")


@pytest.mark.parametrize("key", ["credHelpers", "credsStore"])
def test_a_credential_helper_is_asked_by_standard_input(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    answer = json.dumps({"ServerURL": "x", "Username": "me", "Secret": PLANTED})
    _helper(own_home, monkeypatch, f"echo \"$*\" $(cat) > '{own_home}/asked'; echo '{answer}'")
    helper = {"localhost:5000": "test"} if key == "credHelpers" else "test"
    login = _configured(own_home, {key: helper}).for_registry(REGISTRY)
    assert login is not None
    assert login.basic == BASIC
    assert (own_home / "asked").read_text() == "get localhost:5000\n"


def test_a_helper_that_knows_no_login_is_no_fault(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _helper(own_home, monkeypatch, "echo credentials not found in native keychain; exit 1")
    assert _configured(own_home, {"credsStore": "test"}).for_registry(REGISTRY) is None


@pytest.mark.parametrize(
    ("script", "name", "match"),
    [
        ("echo planted-secret; exit 1", "test", "failed for localhost:5000"),
        ("echo planted-secret", "test", "returned no login"),
        ("", "../test", "no file name"),
        ("", "absent", "cannot be run"),
    ],
)
def test_a_helper_that_fails_is_named_without_its_output(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, script: str, name: str, match: str
) -> None:
    _helper(own_home, monkeypatch, script)
    with pytest.raises(DistributionError, match=match) as failed:
        _configured(own_home, {"credsStore": name}).for_registry(REGISTRY)
    assert PLANTED not in str(failed.value)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"auths": 3}', '{"auths": {"localhost:5000": {"auth": "%"}}}', "[" * 9999]
)
def test_a_broken_configuration_of_docker_is_named(own_home: Path, text: str) -> None:
    _configured(own_home, {})
    (own_home / ".docker" / "config.json").write_text(text)
    with pytest.raises(DistributionError, match=r"config\.json"):
        Credentials().for_registry(REGISTRY)
