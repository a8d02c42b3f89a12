"""`prowess check` over skills whose manifests name each other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from prowess.cli.dispatch import run
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

NEEDS = "composition:\n  dependencies:\n  - {skillName: %s, reason: r}\n"


def rules(capfd: pytest.CaptureFixture[str]) -> list[tuple[str, str, int]]:
    found = json.loads(capfd.readouterr().out)["diagnostics"]
    return [(one["skill"], one["rule"], one["line"]) for one in found]


def test_a_folder_is_checked_as_a_set_and_one_skill_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_skill(tmp_path, "a", files={"skill.manifest.yaml": NEEDS % "b"})
    write_skill(tmp_path, "c")
    only = ["--select", "composition", "--json"]

    assert run(["check", ".", *only]) == 1
    assert rules(capfd) == [("a", "composition.missing", 3)]
    assert run(["check", "a", "c", *only]) == 0
    capfd.readouterr()
    assert run(["check", ".", "--profile", "lenient", *only]) == 0
    assert rules(capfd) == [("a", "composition.missing", 3)]

    write_skill(tmp_path, "b", files={"skill.manifest.yaml": NEEDS % "a"})
    assert run(["check", ".", *only]) == 1
    assert [rule for _, rule, _ in rules(capfd)] == ["composition.cycle"]


def test_everything_that_a_manifest_says_is_exported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    skill = write_skill(tmp_path, "a", files={"skill.manifest.yaml": NEEDS % "b"})
    assert run(["read-properties", "--profile", "lenient", "--json-full", str(skill)]) == 0
    manifest = json.loads(capfd.readouterr().out)["manifest"]
    assert manifest["composition"]["dependencies"] == [
        {"skillName": "b", "reason": "r", "optional": False, "version": None, "source": None}
    ]
    assert manifest["composition"]["executionOrder"] == "independent"
    assert manifest["security"] is None
