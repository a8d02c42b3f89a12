"""`prowess trust`: a decision, said and taken back."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files import file_lock
from prowess.catalog.trust import TrustStore
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / "pkg").mkdir()
    write_skill(root / ".prowess" / "skills" / "ours")
    monkeypatch.chdir(root / "pkg")
    return root


def test_trust_is_given_to_the_whole_project_and_taken_back(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["trust"]) == exit_codes.OK
    assert f"Trusted {project}." in capfd.readouterr().out
    run(["list"])
    assert capfd.readouterr().out.startswith("ours")
    assert run(["trust", "--list"]) == exit_codes.OK
    assert capfd.readouterr().out == f"{project}\n"
    assert run(["trust", "--revoke"]) == exit_codes.OK
    assert "no longer trusted" in capfd.readouterr().out
    run(["list"])
    assert capfd.readouterr().out == ""
    assert run(["trust", "--revoke", str(project)]) == exit_codes.OK
    assert "was not trusted" in capfd.readouterr().out


def test_json_says_what_changed(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(["trust", str(project), "--json"])
    assert json.loads(capfd.readouterr().out) == {"trusted": str(project)}
    run(["trust", "--list", "--json"])
    assert json.loads(capfd.readouterr().out) == {
        "store": TrustStore().path,
        "trusted": [str(project)],
        "refused": [],
        "packages": [],
        "problem": None,
    }
    run(["trust", str(project), "--revoke", "--json"])
    assert json.loads(capfd.readouterr().out) == {"revoked": True}


def test_trust_in_a_project_that_is_gone_can_be_taken_back(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gone" / ".git").mkdir(parents=True)
    run(["trust", str(tmp_path / "gone")])
    (tmp_path / "gone" / ".git").rmdir()
    (tmp_path / "gone").rmdir()
    assert run(["trust", "--revoke", str(tmp_path / "gone")]) == exit_codes.OK
    assert "no longer trusted" in capfd.readouterr().out


def test_an_empty_list_says_how_to_begin(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["trust", "--list"]) == exit_codes.OK
    assert "no project is trusted" in capfd.readouterr().err


def test_only_a_directory_can_be_trusted_and_options_exclude_each_other(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["trust", str(tmp_path / "none")]) == exit_codes.USAGE
    assert "is not a directory" in capfd.readouterr().err
    assert run(["trust", "--list", "--revoke"]) == exit_codes.USAGE


@pytest.mark.usefixtures("project")
def test_a_damaged_store_is_left_as_it_is_and_said(capfd: pytest.CaptureFixture[str]) -> None:
    path = TrustStore().path
    os.makedirs(os.path.dirname(path))
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write("{")
    assert run(["trust"]) == exit_codes.UNAVAILABLE
    assert "repair or remove it" in capfd.readouterr().err
    assert run(["trust", "--list"]) == exit_codes.UNAVAILABLE
    assert "cannot be used" in capfd.readouterr().err


@pytest.mark.usefixtures("project")
def test_a_store_that_somebody_holds_is_unavailable(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(["trust"])
    monkeypatch.setattr("prowess.catalog.trust.locked", lambda path: file_lock.locked(path, wait_seconds=0.01))
    with file_lock.locked(f"{TrustStore().path}.lock"):
        assert run(["trust"]) == exit_codes.UNAVAILABLE
    assert "locked by another process" in capfd.readouterr().err
