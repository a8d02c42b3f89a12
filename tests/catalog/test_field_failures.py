"""Failures that users of other hosts reported, each with the right outcome.

The number in a test's name is the one the failure has in this project's list of public failures.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog, Layer
from prowess.errors import SkillNotFoundError
from tests.catalog.making import finding, names, rules, write_skill

if TYPE_CHECKING:
    from pathlib import Path


def test_k18_linked_skills_are_found_and_links_that_lead_nowhere_are_reported(tmp_path: Path) -> None:
    real = write_skill(tmp_path / "real" / "x")
    root = tmp_path / "root"
    write_skill(root / "plain")
    (root / "x").symlink_to("../real/x")
    (root / "dangling").symlink_to("nowhere")
    (root / "file").symlink_to("plain/SKILL.md")
    (root / "turn").symlink_to("turn")
    (root / "up").symlink_to("..")
    (root / "self").symlink_to(".")
    catalog = Catalog(root)
    assert names(catalog.entries()) == ["plain", "x"]
    assert catalog.get("x").root_dir == str(real)
    reported = {(found.rule, os.path.basename(found.location.path or "")) for found in catalog.diagnostics}
    assert reported == {
        ("catalog.link", "dangling"),
        ("catalog.link", "file"),
        ("catalog.cycle", "turn"),
        ("catalog.cycle", "up"),
        ("catalog.cycle", "self"),
    }
    (tmp_path / "linked-root").symlink_to("root")
    assert names(Catalog(tmp_path / "linked-root").entries()) == ["plain", "x"]


def test_k19_a_skill_inside_a_skill_is_not_one(tmp_path: Path) -> None:
    write_skill(tmp_path / "a")
    write_skill(tmp_path / "a" / "examples" / "b")
    write_skill(tmp_path / "a" / "node_modules" / "p")
    assert names(Catalog(tmp_path).entries()) == ["a"]


def test_k20_a_skill_in_a_group_is_listed_and_loads_under_its_own_name(tmp_path: Path) -> None:
    write_skill(tmp_path / "grp" / "a", body="body\n")
    catalog = Catalog(tmp_path)
    assert names(catalog.entries()) == ["a"]
    assert catalog.skill("a").body == "body\n"


def test_k21_the_lower_case_file_loads_with_a_warning_to_rename_it(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "a")
    (skill / "SKILL.md").rename(skill / "skill.md")
    catalog = Catalog(tmp_path)
    assert names(catalog.entries()) == ["a"]
    found = finding(catalog, "file.name")
    assert found.severity == "warning"
    assert "rename" in found.message


def test_k22_one_malformed_skill_leaves_the_others_alone(tmp_path: Path) -> None:
    write_skill(tmp_path / "good")
    write_skill(tmp_path / "bad", description="&anchor x")
    catalog = Catalog(tmp_path)
    assert names(catalog.entries()) == ["good"]
    assert finding(catalog, "frontmatter.syntax").skill == "bad"


def test_k23_a_skip_has_a_reason_and_asking_for_the_skill_names_it(tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "SKILL.md").write_text("---\nname: bad\n---\n")
    catalog = Catalog(tmp_path)
    found = finding(catalog, "description.required")
    assert found.severity == "error"
    assert found.location.path == str(tmp_path / "bad" / "SKILL.md")
    with pytest.raises(SkillNotFoundError) as absent:
        catalog.skill("bad")
    assert found.message in str(absent.value)
    assert "description.required" in str(absent.value)


def test_k24_the_winner_does_not_depend_on_the_walk_and_listing_and_loading_agree(
    tmp_path: Path, own_home: Path
) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    write_skill(project / ".agents" / "skills" / "a", description="project", body="project\n")
    write_skill(own_home / ".agents" / "skills" / "a", description="user", body="user\n")
    catalog = Catalog.discover(cwd=project, trust_project=True)
    assert [(entry.name, entry.description) for entry in catalog.entries()] == [("a", "user")]
    assert catalog.skill("a").body == "user\n"
    message = finding(catalog, "catalog.shadowed").message
    assert str(own_home / ".agents" / "skills" / "a" / "SKILL.md") in message
    assert finding(catalog, "catalog.shadowed").location.path == str(project / ".agents" / "skills" / "a" / "SKILL.md")


@pytest.mark.proves("client.discovery.same-directory")
def test_k25_one_directory_by_two_ways_is_one_skill_with_an_alias_and_no_collision(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    write_skill(project / ".agents" / "skills" / "a")
    (project / ".claude" / "skills").mkdir(parents=True)
    (project / ".claude" / "skills" / "a").symlink_to("../../.agents/skills/a")
    catalog = Catalog.discover(cwd=project, trust_project=True)
    (entry,) = catalog.all_entries()
    assert entry.root_dir == str(project / ".agents" / "skills" / "a")
    assert entry.aliases == (str(project / ".claude" / "skills" / "a"),)
    assert catalog.diagnostics == ()


@pytest.mark.proves("client.discovery.ancestors")
def test_k26_ancestors_are_searched_up_to_the_git_root_nearest_first_and_never_above(tmp_path: Path) -> None:
    write_skill(tmp_path / ".agents" / "skills" / "above")
    repo = tmp_path / "repo"
    (repo / ".git").mkdir(parents=True)
    write_skill(repo / ".agents" / "skills" / "a")
    write_skill(repo / ".agents" / "skills" / "same", description="far")
    write_skill(repo / "pkg" / ".agents" / "skills" / "same", description="near")
    (repo / "pkg" / "deep").mkdir()
    catalog = Catalog.discover(cwd=repo / "pkg" / "deep", trust_project=True)
    assert [(entry.name, entry.description) for entry in catalog.entries()] == [("a", "Does it."), ("same", "near")]
    assert {entry.layer for entry in catalog.all_entries()} == {Layer.PROJECT}


def test_k29_a_name_is_never_a_path(tmp_path: Path) -> None:
    write_skill(tmp_path / "outside")
    root = tmp_path / "root"
    write_skill(root / "a", name="../outside", description="tricky")
    write_skill(root / "group" / "b")
    catalog = Catalog(root)
    for name in ("../outside/.", "group/b", str(tmp_path / "outside"), "./b", "b/SKILL.md", "", "b\0"):
        with pytest.raises(SkillNotFoundError):
            catalog.get(name)
    assert catalog.get("../outside").root_dir == str(root / "a")  # the name of a record, and no more
    assert catalog.skill("../outside").root_dir == str(root / "a")
    with pytest.raises(SkillNotFoundError):
        catalog.get("b", str(tmp_path / "outside" / "SKILL.md"))


def test_k37_an_untrusted_project_offers_nothing_and_says_so_once(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write_skill(tmp_path / ".claude" / "skills" / "a")
    catalog = Catalog.discover(cwd=tmp_path)
    assert catalog.all_entries() == ()
    assert len(catalog.notices) == 1
    assert catalog.diagnostics == ()


def test_k41_a_link_from_a_skill_into_a_large_tree_costs_nothing(tmp_path: Path) -> None:
    huge = tmp_path / "huge"
    for number in range(2000):
        (huge / f"{number % 40}" / f"{number}").mkdir(parents=True)
    root = tmp_path / "root"
    skill = write_skill(root / "a")
    (skill / "references").mkdir()
    (skill / "references" / "all").symlink_to(huge)
    searched: list[str] = []
    honest = os.scandir

    def counting(path: str) -> object:
        searched.append(str(path))
        return honest(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "scandir", counting)
        catalog = Catalog(root)
        assert names(catalog.entries()) == ["a"]
    assert searched == [str(root)]
    (root / "tree").symlink_to(huge)
    assert rules(Catalog(root)) == []  # beside a skill it is searched, within bounds (test_directory)
