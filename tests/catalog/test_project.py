"""Where a host looks: four layers, and what each of them may not do."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog, Layer
from prowess.catalog.ownership import project_root
from prowess.catalog.project import default_sources
from prowess.catalog.sources.enterprise import ENTERPRISE_ROOT
from tests.catalog.making import finding, names, write_skill

if TYPE_CHECKING:
    from pathlib import Path

_AS_ROOT = hasattr(os, "getuid") and os.getuid() == 0


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    (root / "pkg" / "src").mkdir(parents=True)
    return root


@pytest.mark.proves("governance.layers.four")
def test_the_four_layers_stand_in_their_order() -> None:
    assert [layer.value for layer in sorted(Layer, key=lambda layer: layer.rank)] == [
        "enterprise",
        "personal",
        "project",
        "plugin",
    ]


@pytest.mark.proves(
    "client.discovery.directories", "client.discovery.claude-directory", "governance.layers.personal.path"
)
def test_every_place_of_every_layer_is_searched_in_order(repository: Path, own_home: Path) -> None:
    plugin = repository.parent / "acme-tools" / "skills"
    plugin.mkdir(parents=True)
    sources = default_sources(str(repository / "pkg"), [str(plugin)], enterprise_root=ENTERPRISE_ROOT)
    assert [(source.layer.value, source.named) for source in sources] == [
        ("enterprise", "/etc/prowess/skills"),
        ("enterprise", str(own_home / ".prowess" / "enterprise" / "skills")),
        ("personal", str(own_home / ".prowess" / "skills")),
        ("personal", str(own_home / ".agents" / "skills")),
        ("personal", str(own_home / ".claude" / "skills")),
        ("project", str(repository / "pkg" / ".prowess" / "skills")),
        ("project", str(repository / "pkg" / ".agents" / "skills")),
        ("project", str(repository / "pkg" / ".claude" / "skills")),
        ("project", str(repository / ".prowess" / "skills")),
        ("project", str(repository / ".agents" / "skills")),
        ("project", str(repository / ".claude" / "skills")),
        ("plugin", str(repository / "pkg" / ".venv")),
        ("plugin", str(own_home / ".prowess" / "store")),  # of the project's lock, then of the personal one
        ("plugin", str(own_home / ".prowess" / "store")),
        ("plugin", str(plugin)),
    ]
    assert [source.label for source in sources if source.layer is not Layer.ENTERPRISE] == [
        "~/.prowess/skills",
        "~/.agents/skills",
        "~/.claude/skills",
        "pkg/.prowess/skills",
        "pkg/.agents/skills",
        "pkg/.claude/skills",
        ".prowess/skills",
        ".agents/skills",
        ".claude/skills",
        "packages",
        "prowess.lock",
        "prowess.lock",
        "acme-tools",
    ]


def test_the_project_is_the_nearest_directory_with_git_be_it_file_or_directory(repository: Path) -> None:
    assert project_root(str(repository / "pkg" / "src")) == str(repository)
    (repository / "pkg" / ".git").write_text("gitdir: elsewhere\n")
    assert project_root(str(repository / "pkg" / "src")) == str(repository / "pkg")


def test_without_git_only_the_directory_itself_is_the_project(tmp_path: Path) -> None:
    if project_root(str(tmp_path.parent)) != str(tmp_path.parent):
        pytest.skip("the temporary directory lies in a git clone")
    (tmp_path / "a" / "b").mkdir(parents=True)
    write_skill(tmp_path / "a" / ".agents" / "skills" / "above")
    write_skill(tmp_path / "a" / "b" / ".agents" / "skills" / "here")
    catalog = Catalog.discover(cwd=tmp_path / "a" / "b", trust_project=True)
    assert names(catalog.entries()) == ["here"]


@pytest.mark.proves("client.discovery.scopes", "governance.layers.project.path")
def test_skills_of_user_project_and_plugin_are_found_together(repository: Path, own_home: Path) -> None:
    write_skill(own_home / ".agents" / "skills" / "mine")
    write_skill(repository / ".prowess" / "skills" / "ours")
    write_skill(repository.parent / "acme" / "theirs")
    catalog = Catalog.discover(cwd=repository / "pkg", plugins=[repository.parent / "acme"], trust_project=True)
    assert [(entry.name, entry.layer.value, entry.source) for entry in catalog.entries()] == [
        ("mine", "personal", "~/.agents/skills"),
        ("ours", "project", ".prowess/skills"),
        ("theirs", "plugin", "acme"),
    ]


def test_prowess_home_moves_the_personal_skills(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "moved"))
    write_skill(tmp_path / "moved" / "skills" / "mine")
    (entry,) = Catalog.discover(cwd=repository).entries()
    assert (entry.layer, entry.source) == (Layer.PERSONAL, str(tmp_path / "moved" / "skills"))


@pytest.mark.proves("governance.override.order", "governance.override.replacement")
def test_a_personal_copy_replaces_a_project_copy_whole(repository: Path, own_home: Path) -> None:
    write_skill(own_home / ".prowess" / "skills" / "a", description="Mine.", body="my body\n")
    ours = write_skill(repository / ".prowess" / "skills" / "a", description="Ours.", extra="license: MIT\n")
    (ours / "extra.md").write_text("x")
    catalog = Catalog.discover(cwd=repository, trust_project=True)
    assert [entry.description for entry in catalog.entries()] == ["Mine."]
    skill = catalog.skill("a")
    assert (skill.body, skill.frontmatter.license, skill.resources) == ("my body\n", None, ())


@pytest.mark.skipif(not _AS_ROOT, reason="only an administrator can make files that belong to one")
def test_an_enterprise_copy_wins_over_all_and_nothing_a_project_says_changes_that(
    repository: Path, own_home: Path, tmp_path: Path
) -> None:
    write_skill(tmp_path / "etc" / "deploy", description="By the rules.")
    write_skill(own_home / ".prowess" / "skills" / "deploy", extra="priority: 100\n")
    write_skill(repository / ".prowess" / "skills" / "deploy", extra="priority: 1000\n")
    write_skill(tmp_path / "acme" / "deploy")
    catalog = Catalog.discover(
        cwd=repository, plugins=[tmp_path / "acme"], trust_project=True, enterprise_root=str(tmp_path / "etc")
    )
    found = catalog.why("deploy")
    assert found.winner is not None
    assert found.winner.description == "By the rules."
    assert [(copy.layer.value, copy.reason) for copy in found.shadowed] == [
        ("personal", "shadowed by enterprise (a higher layer replaces the whole skill)"),
        ("project", "shadowed by enterprise (a higher layer replaces the whole skill)"),
        ("plugin", "shadowed by enterprise (a higher layer replaces the whole skill); still reachable as deploy@acme"),
    ]


@pytest.mark.proves("governance.layers.enterprise.path")
def test_enterprise_skills_below_the_home_are_a_finding_and_not_loaded(repository: Path, own_home: Path) -> None:
    write_skill(own_home / ".prowess" / "enterprise" / "skills" / "a")
    catalog = Catalog.discover(cwd=repository)
    assert catalog.entries() == ()
    assert finding(catalog, "catalog.enterprise").location.path == str(own_home / ".prowess" / "enterprise" / "skills")


def test_a_directory_reached_in_two_layers_belongs_to_the_higher(repository: Path, own_home: Path) -> None:
    mine = write_skill(own_home / ".prowess" / "skills" / "a")
    (repository / ".prowess" / "skills").mkdir(parents=True)
    (repository / ".prowess" / "skills" / "a").symlink_to(mine)
    catalog = Catalog.discover(cwd=repository, trust_project=True)
    (entry,) = catalog.all_entries()
    assert entry.layer is Layer.PERSONAL
    assert entry.aliases == (str(repository / ".prowess" / "skills" / "a"),)
    assert catalog.diagnostics == ()


def test_two_plugins_of_one_name_get_labels_that_differ(tmp_path: Path) -> None:
    for vendor in ("one", "two"):
        write_skill(tmp_path / vendor / "acme" / "skills" / "deploy", description=vendor)
    catalog = Catalog.discover(
        cwd=tmp_path, plugins=[tmp_path / "one" / "acme" / "skills", tmp_path / "two" / "acme" / "skills"]
    )
    assert catalog.get("deploy").description == "two"
    assert catalog.get("deploy@acme").description == "two"
    assert catalog.get("deploy@acme-2").description == "one"


def test_a_working_directory_that_was_deleted_means_no_project(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_skill(own_home / ".prowess" / "skills" / "mine")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert names(Catalog.discover().entries()) == ["mine"]


def test_the_working_directory_is_the_default(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_skill(repository / ".claude" / "skills" / "ours")
    monkeypatch.chdir(repository / "pkg")
    assert names(Catalog.discover(trust_project=True).entries()) == ["ours"]
