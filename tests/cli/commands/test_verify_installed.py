"""`prowess verify` without a path: what the locks name, in the store and in the targets."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from prowess.cli import exit_codes
from prowess.lockfile import Lockfile, read_lock, render_lock
from tests.distribution.installation.projects import Commands, make_project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def prowess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    """`alpha` is signed by a trusted key, `beta` is not signed. Both are installed."""
    monkeypatch.delenv("CI", raising=False)
    found = Commands(make_project(tmp_path, "alpha", "beta"), monkeypatch, capfd)
    found.text("key", "new", "../k")
    found.text("key", "trust", "../k.pub", "--as", "Acme")
    found.text("sign", "../skills/alpha", "--key", "../k")
    found.text("install", "../skills", "--skill", "*", "--target", "claude-code")
    found.text("install", "../skills", "--skill", "beta", "--scope", "personal")
    return found


def _statuses(report: dict[str, Any]) -> list[tuple[str, str]]:
    return [(row["name"], row["status"]) for row in report["skills"]]


def test_each_place_of_each_locked_skill_has_a_row(prowess: Commands) -> None:
    report = prowess.report("verify")
    assert report["summary"] == {
        "verified": 2, "changed": 0, "untrusted": 0, "unsigned": 3, "invalid": 0, "missing": 0
    }  # fmt: skip
    assert _statuses(report) == [
        ("alpha", "verified"), ("beta", "unsigned"), ("alpha", "verified"), ("beta", "unsigned"), ("beta", "unsigned")
    ]  # fmt: skip
    assert report["skills"][2]["path"] == str(prowess.directory / ".claude/skills/alpha")
    assert _statuses(prowess.report("verify", "--scope", "personal")) == [("beta", "unsigned")]
    lines = prowess.text("verify").splitlines()
    assert lines[0].startswith("verified  alpha (installed): signed by ")
    assert lines[3].startswith("unsigned  .claude/skills/beta: ")
    assert "without PATH, the installed skills are verified" in prowess.text("verify", "alpha", code=exit_codes.FAILED)
    prowess.text("verify", "--scope", "project", "../skills", code=exit_codes.USAGE)
    prowess.text("verify", "--signature", "x", code=exit_codes.USAGE)


def test_a_machine_that_does_not_trust_the_signer_of_the_lock_is_told_how(
    prowess: Commands, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "another-home"))
    prowess.text("install", "--frozen", code=exit_codes.DENIED)
    assert "but it was signed with a key that is not trusted here (sha256sum of its .pub file: " in prowess.err
    assert "; to trust it: prowess key trust FILE --as PUBLISHER" in prowess.err
    prowess.text("key", "trust", "../k.pub", "--as", "Acme")
    assert "Installed alpha 1.0.0" in prowess.text("install", "--frozen")


def test_what_differs_from_the_lock_fails(prowess: Commands) -> None:
    copies = prowess.directory / ".claude/skills"
    (copies / "alpha/SKILL.md").write_text("mine", encoding="utf-8")
    os.rename(copies / "beta", copies / "elsewhere")
    report = prowess.report("verify", code=exit_codes.FAILED)
    rows = {row["path"]: row for row in report["skills"]}
    changed = rows[str(copies / "alpha")]
    assert (changed["status"], changed["files"]) == ("changed", ["SKILL.md"])
    assert "prowess install --repair" in changed["reason"]
    assert rows[str(copies / "beta")]["status"] == "missing"
    assert (report["summary"]["changed"], report["summary"]["missing"]) == (1, 1)
    prowess.text("install", "--repair")
    prowess.text("verify")


def test_the_signer_that_the_lock_names_is_compared(prowess: Commands) -> None:
    lock = read_lock(str(prowess.lock))
    other = "key sha256:" + "0" * 64
    skills = tuple(
        type(skill)(**{**{name: getattr(skill, name) for name in skill.__struct_fields__}, "signer": other})
        for skill in lock.skills
    )
    prowess.lock.write_bytes(render_lock(Lockfile(skills=skills, targets=lock.targets)))
    report = prowess.report("verify", "--scope", "project", code=exit_codes.FAILED)
    assert _statuses(report)[:2] == [("alpha", "untrusted"), ("beta", "untrusted")]
    assert f"the lock names the signer {other}" in report["skills"][0]["reason"]


def test_a_lock_that_cannot_be_read_is_an_error(prowess: Commands) -> None:
    prowess.lock.write_text("version = 2\n", encoding="utf-8")
    prowess.text("verify", code=exit_codes.FAILED)
    assert "prowess.lock" in prowess.err


def test_nothing_installed_is_no_fault(prowess: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "other"))
    monkeypatch.chdir(tmp_path)
    assert prowess.report("verify")["skills"] == []
