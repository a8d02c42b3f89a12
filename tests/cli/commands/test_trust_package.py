"""`prowess trust --package`: packages that are trusted by name, version and record, and what the decision covers."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog, TrustStore
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.errors import SkillParseError
from tests.catalog.installing import bare_project, install, install_node, site_of, skill_text
from tests.catalog.making import finding, names, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    Captured = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return bare_project(tmp_path, monkeypatch)


def test_a_python_package_is_trusted_listed_and_revoked(project: Path, capfd: Captured) -> None:
    install(site_of(project / ".venv"), "Acme.Kit", {"acme/skills/plan/SKILL.md": skill_text("plan")})
    run(["list"])
    assert "acme-kit 1.0 (plan)" in capfd.readouterr().err
    assert run(["trust", "--package", "Acme_Kit"]) == exit_codes.OK
    said = capfd.readouterr().out
    place = ".venv/lib/python3.11/site-packages"
    assert said.startswith(f"Trusted acme-kit 1.0 (python package in {place}, RECORD sha256:")
    assert "It offers 1 skill: plan." in said
    run(["list"])
    printed = capfd.readouterr()
    assert printed.out.startswith("plan")
    assert printed.err == ""
    run(["trust", "--list"])
    assert capfd.readouterr().out == "acme-kit 1.0 (python package)\n"
    assert run(["trust", "--package", "acme-kit", "--revoke"]) == exit_codes.OK
    assert "acme-kit is no longer trusted." in capfd.readouterr().out
    run(["list"])
    assert capfd.readouterr().out == ""


def test_json_gives_name_version_and_record(project: Path, capfd: Captured) -> None:
    install(site_of(project / ".venv"), "acme", {"acme/skills/plan/SKILL.md": skill_text("plan")})
    run(["trust", "--package", "acme", "--json"])
    trusted = json.loads(capfd.readouterr().out)["trusted"]
    assert (trusted["kind"], trusted["name"], trusted["version"], trusted["skills"]) == (
        "python",
        "acme",
        "1.0",
        ["plan"],
    )
    assert len(trusted["record"]) == 64
    run(["trust", "--list", "--json"])
    (row,) = json.loads(capfd.readouterr().out)["packages"]
    assert row == {key: value for key, value in trusted.items() if key not in {"skills", "location"}}
    assert trusted["location"] == str(project / ".venv/lib/python3.11/site-packages")
    run(["trust", "--package", "acme", "--revoke", "--json"])
    assert json.loads(capfd.readouterr().out) == {"revoked": True}
    run(["trust", "--package", "acme", "--revoke", "--json"])
    assert json.loads(capfd.readouterr().out) == {"revoked": False}


def test_trust_in_a_package_that_was_removed_can_be_revoked(project: Path, capfd: Captured) -> None:
    info = install(site_of(project / ".venv"), "acme", {"acme/skills/plan/SKILL.md": skill_text("plan")})
    run(["trust", "--package", "acme"])
    info.rename(info.with_name("elsewhere"))
    run(["trust", "--package", "python:acme", "--revoke"])
    assert "no longer trusted" in capfd.readouterr().out
    assert TrustStore().packages() == {}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--package", "none"),
        ("--package", "acme", "--list"),
        ("--package", "acme", "--refuse"),
        ("other", "--package", "acme"),
        ("--refuse", "--revoke"),
        ("--package", "bare"),
    ],
)
def test_unusable_requests_are_errors_of_usage(project: Path, capfd: Captured, arguments: tuple[str, ...]) -> None:
    site = site_of(project / ".venv")
    install(site, "acme", {"acme/skills/plan/SKILL.md": skill_text("plan")})
    install(site, "bare", {"bare/skills/plan/SKILL.md": skill_text("plan")}, record=False)
    assert run(["trust", *arguments]) == exit_codes.USAGE
    if "bare" in arguments:
        assert "it has no RECORD" in capfd.readouterr().err
    assert TrustStore().packages() == {}


@pytest.mark.parametrize("name", ["kit", "@scope/kit"])
def test_a_node_package_is_bound_to_the_hashes_of_its_skills_files(project: Path, capfd: Captured, name: str) -> None:
    files = {
        "skills/plan/SKILL.md": skill_text("plan"),
        "skills/plan/notes.md": "Notes.\n",
        ".agents/skills/tidy/SKILL.md": skill_text("tidy"),
        "skills/group/deep/SKILL.md": skill_text("deep"),
        "dist/skills/built/SKILL.md": skill_text("built"),
        "node_modules/inner/skills/no/SKILL.md": skill_text("no"),
    }
    root = install_node(project / "node_modules", name, files)
    for path in files:
        os.link(root / path, project / f"link-{path.replace('/', '-')}")  # as pnpm links from its store
    run(["list"])
    assert f"{name} 1.0.0 (" in capfd.readouterr().err
    assert run(["trust", "--package", name]) == exit_codes.OK
    assert "hashes of 5 files" in capfd.readouterr().out
    catalog = Catalog.discover(cwd=project)
    assert names(catalog.entries()) == ["built", "deep", "plan", "tidy"]
    assert catalog.get(f"plan@{name.removeprefix('@')}") is catalog.get("plan")
    assert len(catalog.skill("plan").manifest.files) == 2
    (root / "README.md").write_text("Not a part of a skill.\n")
    (root / "skills/plan/notes.md").unlink()
    (root / "skills/plan/notes.md").write_text("Notes!\n")
    with pytest.raises(SkillParseError, match="recorded"):
        catalog.skill("plan")
    (root / "skills/plan/SKILL.md").unlink()
    (root / "skills/plan/SKILL.md").write_text(skill_text("plan", "Another."))
    catalog.refresh()
    assert names(catalog.entries()) == ["built", "deep", "tidy"]
    assert finding(catalog, "catalog.package").skill == "plan"
    install_node(project / "node_modules", name, {}, version="1.0.1")
    catalog.refresh()
    assert catalog.entries() == ()
    assert "version 1.0.0 of it is trusted" in catalog.notices[0].message


def test_a_name_of_both_kinds_must_name_its_kind(project: Path, capfd: Captured) -> None:
    install(site_of(project / ".venv"), "kit", {"kit/skills/plan/SKILL.md": skill_text("plan")})
    install_node(project / "node_modules", "kit", {"skills/tidy/SKILL.md": skill_text("tidy")})
    assert run(["trust", "--package", "kit"]) == exit_codes.USAGE
    assert "name node:kit or python:kit" in capfd.readouterr().err
    assert run(["trust", "--package", "node:kit"]) == exit_codes.OK
    assert names(Catalog.discover(cwd=project).entries()) == ["tidy"]
    assert run(["trust", "--package", "python:kit"]) == exit_codes.OK
    catalog = Catalog.discover(cwd=project)
    assert {entry.source for entry in catalog.entries()} == {"kit", "kit-2"}


def test_pnpm_links_are_followed_and_workspace_links_follow_the_trust_in_the_project(project: Path) -> None:
    store = project / "node_modules" / ".pnpm" / "kit@1.0.0" / "node_modules"
    install_node(store, "kit", {"skills/plan/SKILL.md": skill_text("plan")})
    (project / "node_modules" / "kit").symlink_to(store / "kit")
    install_node(project / "packages", "ours", {"skills/tidy/SKILL.md": skill_text("tidy")})
    (project / "node_modules" / "ours").symlink_to(project / "packages" / "ours")
    (project / "node_modules" / "loop").symlink_to(project / "node_modules")
    (project / "node_modules" / "self").symlink_to("self")
    install_node(project / "node_modules", "linked", {})
    (project / "node_modules" / "linked" / "skills").symlink_to(write_skill(project / "x" / "a").parent)
    assert run(["trust", "--package", "kit"]) == exit_codes.OK
    catalog = Catalog.discover(cwd=project)
    assert names(catalog.entries()) == ["plan"]
    assert [notice.code for notice in catalog.notices] == ["project_untrusted"]
    TrustStore().trust(str(project))
    catalog.refresh()
    assert names(catalog.entries()) == ["plan", "tidy"]
    assert catalog.get("tidy").source == "ours"


def test_skills_of_a_node_package_with_a_link_are_not_trusted(project: Path, capfd: Captured) -> None:
    root = install_node(project / "node_modules", "kit", {"skills/plan/SKILL.md": skill_text("plan")})
    (root / "skills" / "plan" / "secret").symlink_to("/etc/hostname")
    assert run(["trust", "--package", "kit"]) == exit_codes.FAILED
    assert "cannot be trusted" in capfd.readouterr().err
    assert TrustStore().packages() == {}


@pytest.mark.parametrize("given", ['{"name": "other"}', "[]", "{", ""])
def test_a_node_package_must_have_its_own_name(project: Path, given: str) -> None:
    root = install_node(project / "node_modules", "kit", {"skills/plan/SKILL.md": skill_text("plan")})
    (root / "package.json").write_text(given)
    (notice,) = Catalog.discover(cwd=project).notices
    assert "kit (plan; its package.json is missing or has another name)" in notice.message
    assert run(["trust", "--package", "kit"]) == exit_codes.USAGE


def test_a_refused_project_is_listed_and_can_be_trusted_again(project: Path, capfd: Captured) -> None:
    write_skill(project / ".prowess" / "skills" / "ours")
    assert run(["trust", "--refuse"]) == exit_codes.OK
    assert f"Refused {project}." in capfd.readouterr().out
    run(["trust", "--list"])
    assert capfd.readouterr().out == f"{project} (refused)\n"
    run(["trust", "--list", "--json"])
    assert json.loads(capfd.readouterr().out)["refused"] == [str(project)]
    assert Catalog.discover(cwd=project).entries() == ()
    run(["trust", "--revoke"])
    assert f"{project} is no longer refused." in capfd.readouterr().out
    run(["trust", "--refuse", "--json"])
    assert json.loads(capfd.readouterr().out) == {"refused": str(project)}
    run(["trust"])
    assert TrustStore().refused() == ()
    assert names(Catalog.discover(cwd=project).entries()) == ["ours"]


def test_the_error_for_an_unknown_package_names_those_with_skills(project: Path, capfd: Captured) -> None:
    assert run(["trust", "--package", "acme"]) == exit_codes.USAGE
    assert "Prowess; no package there has skills" in capfd.readouterr().err
    install(site_of(project / ".venv"), "acme-kit", {"acme/skills/plan/SKILL.md": skill_text("plan")})
    assert run(["trust", "--package", "acme"]) == exit_codes.USAGE
    assert "Prowess; packages with skills: acme-kit" in capfd.readouterr().err


@pytest.mark.parametrize("command", ["load", "show"])
@pytest.mark.parametrize("name", ["acme/plan", "plan@acme"])
def test_a_directory_with_the_name_of_a_copy_does_not_replace_it(
    project: Path, capfd: Captured, command: str, name: str
) -> None:
    install(site_of(project / ".venv"), "acme", {"acme/skills/plan/SKILL.md": skill_text("plan")})
    write_skill(project / name, name="plan", description="Of the directory.")
    assert run([command, name]) != exit_codes.OK
    assert "held back" in capfd.readouterr().err
    run(["trust", "--package", "acme"])
    capfd.readouterr()
    assert run([command, name]) == exit_codes.OK
    assert "Of the directory." not in capfd.readouterr().out
