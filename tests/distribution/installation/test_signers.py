"""Signatures of skills at installation: the signer is pinned, and a signature that does not fit is refused."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess._internal.places import prowess_home
from prowess.cli import exit_codes
from prowess.lockfile import read_lock
from tests.distribution.installation.projects import Commands, actions, codes, make_project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def prowess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    """A project; `../skills/alpha` is signed by the trusted key `../k`."""
    monkeypatch.delenv("CI", raising=False)
    found = Commands(make_project(tmp_path, "alpha", "beta"), monkeypatch, capfd)
    found.text("key", "new", "../k")
    found.text("key", "trust", "../k.pub", "--as", "Acme")
    found.text("sign", "../skills/alpha", "--key", "../k")
    return found


def _signer(prowess: Commands, name: str) -> str | None:
    (skill,) = read_lock(str(prowess.lock)).named(name)
    return skill.signer


def test_the_first_installation_pins_the_signer(prowess: Commands) -> None:
    report = prowess.report("install", "../skills", "--skill", "*")
    rows = {row["name"]: (row["status"], row["signer"]) for row in report["skills"]}
    assert rows["beta"] == ("unsigned", None)
    assert rows["alpha"][0] == "verified"
    assert rows["alpha"][1].startswith("key sha256:")
    assert _signer(prowess, "alpha") == rows["alpha"][1]
    stored = os.path.join(prowess_home(), "store", report["skills"][0]["tree"], "alpha", "skill.oms.sig")
    assert os.path.exists(stored)


def test_a_signature_that_does_not_fit_is_refused(prowess: Commands, tmp_path: Path) -> None:
    signature = tmp_path / "skills/alpha/skill.oms.sig"
    whole = signature.read_bytes()
    (tmp_path / "skills/alpha/more.md").touch()
    for data in (whole, whole[:-20], b"", whole.replace(b'"', b"'", 1)):
        signature.write_bytes(data)
        report = prowess.report("install", "../skills", "--skill", "alpha", code=exit_codes.DENIED)
        assert codes(report) == ["policy_denied"]
        assert "the signature of skill 'alpha' is not accepted" in prowess.err
    assert not prowess.lock.exists()
    assert not os.path.exists(os.path.join(prowess_home(), "store"))


def test_the_locked_signer_is_required_for_what_is_fetched_again(prowess: Commands, tmp_path: Path) -> None:
    prowess.text("install", "../skills", "--skill", "alpha")
    text = prowess.lock.read_bytes()
    (tmp_path / "skills/alpha/skill.oms.sig").unlink()
    prowess.text("install", "--frozen")
    _remove_store()
    prowess.text("install", "--frozen", code=exit_codes.DENIED)
    assert "the lock names key sha256:" in prowess.err
    assert "but nobody signed it" in prowess.err
    prowess.text("sign", "../skills/alpha", "--key", "../k")
    prowess.text("install", "--frozen")
    assert prowess.lock.read_bytes() == text


def test_a_signature_that_comes_later_is_stored(prowess: Commands) -> None:
    prowess.text("install", "../skills", "--skill", "beta", "--target", "claude-code")
    prowess.text("sign", "../skills/beta", "--key", "../k")
    report = prowess.report("install", "../skills", "--skill", "beta")
    assert actions(report)["beta"] in {"install", "update"}
    assert _signer(prowess, "beta") is not None
    assert os.path.exists(os.path.join(prowess_home(), "store", report["skills"][0]["tree"], "beta", "skill.oms.sig"))
    assert prowess.report("install")["changed"] is False


def _remove_store() -> None:
    from tests.distribution.installation.test_install import _remove

    _remove(os.path.join(prowess_home(), "store"))
