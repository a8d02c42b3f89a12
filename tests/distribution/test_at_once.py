"""Two commands at once: each succeeds or names the reason in one sentence, and nothing is lost."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files.tree_digest import read_tree
from prowess._internal.places import prowess_home
from prowess.distribution.installation.installing import InstallOptions, install
from prowess.distribution.installation.pruning import prune_store
from prowess.distribution.installation.requests import SkillRequest
from prowess.distribution.installation.scope import InstallScope
from prowess.distribution.permission.permission import Permission
from prowess.lockfile.source_reference import parse_reference
from tests.distribution.deployment.deployments import Deployment
from tests.distribution.installation.projects import Commands, make_project, write_skill
from tests.distribution.making import make_skill
from tests.fork_server import Ran, run_at_once

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.unmeasured,  # processes of their own write no usable coverage
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork"),
]

_SKILLS = tuple(f"skill-{number}" for number in range(6))


@pytest.fixture
def prowess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    monkeypatch.delenv("CI", raising=False)
    return Commands(make_project(tmp_path, *_SKILLS), monkeypatch, capfd)


def _at_once(directory: Path, *commands: tuple[str, ...], codes: set[int] | None = None) -> list[Ran]:
    ran = run_at_once(commands, directory, os.environ)
    assert {one.code for one in ran} <= (codes or {0}), ran
    assert all("Traceback" not in one.err for one in ran), ran
    return ran


def _require_settled(prowess: Commands, names: set[str]) -> None:
    assert set(prowess.installed()) == names
    report = prowess.report("install")
    assert (report["changed"], {target["state"] for target in report["targets"]}) == (False, {"current"})
    assert set(os.listdir(prowess.directory / ".claude/skills")) == names
    assert not os.path.exists(os.path.join(prowess_home(), "stage"))


def test_installers_at_once_lose_nothing(prowess: Commands) -> None:
    _at_once(
        prowess.directory,
        *(("install", "../skills", "--skill", name, "--target", "claude-code") for name in _SKILLS),
    )
    _require_settled(prowess, set(_SKILLS))
    _at_once(prowess.directory, *(("remove", name) for name in _SKILLS))
    assert prowess.installed() == {}
    assert [one["number"] for one in prowess.report("rollback", "--list")["states"]] == [*range(2 * len(_SKILLS) + 1)]


def test_installers_and_updaters_beside_removers_lose_nothing(prowess: Commands, tmp_path: Path) -> None:
    first = ("--skill", "skill-0", "--skill", "skill-1", "--skill", "skill-2")
    prowess.text("install", "../skills", *first, "--target", "claude-code")
    write_skill(tmp_path / "skills" / "skill-2", "1.1.0")
    _at_once(
        prowess.directory,
        ("remove", "skill-0"),
        ("install", "../skills", "--skill", "skill-3"),
        ("remove", "skill-1"),
        ("install", "../skills", "--skill", "skill-4"),
        ("update", "skill-2", "--accept", "scripts"),
    )
    _require_settled(prowess, {"skill-2", "skill-3", "skill-4"})
    assert prowess.installed()["skill-2"] == "1.1.0"


def test_installers_with_two_homes_share_a_project(prowess: Commands, tmp_path: Path) -> None:
    homes = {name: f"PROWESS_HOME={tmp_path / f'home-{name}'}" for name in _SKILLS}
    _at_once(prowess.directory, *((home, "install", "../skills", "--skill", name) for name, home in homes.items()))
    prowess.text("install")
    assert set(prowess.installed()) == set(_SKILLS)


def test_pruning_beside_installers_keeps_what_the_lock_names(prowess: Commands) -> None:
    prowess.text("install", "../skills", "--skill", "*", "--target", "claude-code")
    prune = ("store", "prune", "--keep", "0")
    for name in _SKILLS[:3]:
        prowess.text("remove", name)
        _at_once(prowess.directory, prune, ("install", "../skills", "--skill", name), prune)
    _require_settled(prowess, set(_SKILLS))


def test_a_skill_that_is_pruned_after_it_was_found_is_fetched_again(
    prowess: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    prowess.text("install", "../skills", "--skill", "skill-0")
    prowess.text("remove", "skill-0")
    asked = Permission.carry_out

    def pruned(self: Permission, *given: object) -> object:
        prune_store(prowess_home(), keep=0)
        monkeypatch.setattr(Permission, "carry_out", asked)
        return asked(self, *given)  # type: ignore[arg-type] # handed on as it was given

    monkeypatch.setattr(Permission, "carry_out", pruned)
    scope = InstallScope.find("project")
    request = SkillRequest(reference=parse_reference("../skills"), names=("skill-0",))
    report = install(scope, [request], InstallOptions())
    assert [problem.code for problem in report.problems] == []
    assert prowess.installed() == {"skill-0": "1.0.0"}


def test_publishers_at_once_lose_nothing(tmp_path: Path) -> None:
    registry = tmp_path / "registry"
    for name in _SKILLS:
        make_skill(tmp_path / "skills", name)
    other = make_skill(tmp_path / "other", "skill-0", body="Other.")
    commands = [("publish", f"skills/{name}", "--to", "registry") for name in _SKILLS]
    ran = _at_once(tmp_path, *commands, *commands, ("publish", str(other), "--to", "registry"), codes={0, 1})
    index = json.loads((registry / ".well-known/agent-skills/index.json").read_bytes())
    assert {row["name"] for row in index["skills"]} == set(_SKILLS)
    for one in ran:  # of two different bytes of one version, the second to come is refused
        assert not one.code or "skill-0 1.0.0 is published with other bytes" in one.err, one
    assert sum(bool(one.code) for one in ran) in {1, 2}
    assert {len(row["versions"]) for row in index["skills"]} == {1}
    assert len(os.listdir(registry / ".well-known/agent-skills/artifacts")) == len(_SKILLS)


def test_signers_and_hosts_at_once_lose_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    deployment = Deployment(tmp_path, capfd)
    deployment.deploy("mail")
    deployment.sync("host")
    keys = ("--key", deployment.key("alice"), "--key", deployment.key("bob"))
    skills = [str(make_skill(tmp_path / "skills", name)) for name in ("pdf", "xlsx")]
    to, into = str(deployment.directory), str(tmp_path / "host")
    sync = ("sync", "--from", to, "--into", into, "--json")
    _at_once(tmp_path, *(("deploy", skill, "--to", to, *keys) for skill in skills), sync, sync)
    assert deployment.sync("other")["release"] == 3
    ran = _at_once(tmp_path, sync, sync, sync)
    assert [json.loads(one.out)["release"] for one in ran] == [3, 3, 3]
    assert deployment.skills("host") == deployment.skills("other")
    assert sorted(os.listdir(tmp_path / "host" / "skills")) == ["mail", "pdf", "xlsx"]
    assert {name for name in os.listdir(tmp_path / "host" / "deployment") if name.startswith("stage-")} == set()
    assert read_tree(str(tmp_path / "host" / "skills" / "pdf")).digest is not None
