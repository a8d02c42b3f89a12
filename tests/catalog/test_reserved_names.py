"""A skill that is skipped keeps its name: a fault above is no way in for whoever wrote what lies below."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog, Layer
from prowess.catalog.sources.directory import DirectorySource
from prowess.catalog.sources.enterprise import EnterpriseSource
from prowess.errors import SkillNotFoundError
from tests.catalog.making import finding, names, rules, write_skill

if TYPE_CHECKING:
    from pathlib import Path

_AS_ROOT = hasattr(os, "getuid") and os.getuid() == 0
as_root = pytest.mark.skipif(not _AS_ROOT, reason="only an administrator can make files that belong to one")


def _catalog(above: Path, below: Path, layer: Layer = Layer.PERSONAL) -> Catalog:
    return Catalog(DirectorySource(str(above), layer=layer), DirectorySource(str(below), layer=Layer.PROJECT))


def _refused(catalog: Catalog, name: str = "deploy") -> str:
    with pytest.raises(SkillNotFoundError) as fault:
        catalog.get(name)
    assert name not in names(catalog.entries())
    assert name not in names(catalog.all_entries())
    reserved = finding(catalog, "catalog.reserved")
    assert reserved.skill == name
    assert reserved.severity == "error"
    assert fault.value.reason is not None
    assert "does not replace it" in fault.value.reason
    assert catalog.why(name).winner is None
    return fault.value.reason


@pytest.fixture
def below(tmp_path: Path) -> Path:
    write_skill(tmp_path / "below" / "deploy", description="Of the project.")
    return tmp_path / "below"


@pytest.mark.parametrize("fault", ["broken", "no description", "other spelling", "hard link", "dangling link"])
def test_a_skipped_skill_keeps_its_name_from_lower_layers(tmp_path: Path, below: Path, fault: str) -> None:
    above = tmp_path / "above"
    skill = write_skill(above / "deploy")
    match fault:
        case "broken":
            (skill / "SKILL.md").write_bytes(b"---\n: [\n---\n\xff")
        case "no description":
            (skill / "SKILL.md").write_text("---\nname: deploy\n---\n")
        case "other spelling":
            (skill / "SKILL.md").rename(skill / "Skill.md")
        case "hard link":
            os.link(skill / "SKILL.md", tmp_path / "other")
        case _:
            skill.rename(tmp_path / "gone")
            skill.symlink_to(tmp_path / "nowhere")
    assert str(above) in _refused(_catalog(above, below))


def test_the_name_in_the_front_matter_is_kept_as_well(tmp_path: Path, below: Path) -> None:
    write_skill(tmp_path / "above" / "another", name="deploy", description='""')
    assert "another" in _refused(_catalog(tmp_path / "above", below))


def test_within_one_layer_the_next_copy_is_used(tmp_path: Path, below: Path) -> None:
    (write_skill(tmp_path / "above" / "deploy") / "SKILL.md").write_text("---\nname: deploy\n---\n")
    catalog = _catalog(tmp_path / "above", below, Layer.PROJECT)
    assert catalog.get("deploy").description == "Of the project."
    assert "catalog.reserved" not in rules(catalog)


def test_a_good_copy_in_the_layer_of_the_skipped_one_has_the_name(tmp_path: Path, below: Path) -> None:
    (write_skill(tmp_path / "above" / "deploy") / "SKILL.md").write_text("---\nname: deploy\n---\n")
    write_skill(tmp_path / "beside" / "deploy", description="Of the person.")
    personal = [DirectorySource(str(tmp_path / name), layer=Layer.PERSONAL) for name in ("above", "beside")]
    catalog = Catalog(*personal, DirectorySource(str(below), layer=Layer.PROJECT))
    assert catalog.get("deploy").description == "Of the person."
    assert [shadowed.layer for shadowed in catalog.why("deploy").shadowed] == [Layer.PROJECT]


def test_a_skipped_skill_of_a_lower_layer_keeps_nothing_from_a_higher_one(tmp_path: Path, below: Path) -> None:
    (below / "deploy" / "SKILL.md").write_text("---\nname: deploy\n---\n")
    write_skill(tmp_path / "above" / "deploy", description="Of the person.")
    assert _catalog(tmp_path / "above", below).get("deploy").description == "Of the person."


def test_a_directory_that_is_no_skill_keeps_nothing(tmp_path: Path, below: Path) -> None:
    (tmp_path / "above" / "deploy").mkdir(parents=True)
    assert _catalog(tmp_path / "above", below).get("deploy").description == "Of the project."


def test_once_the_fault_is_gone_a_refresh_gives_the_name_back(tmp_path: Path, below: Path) -> None:
    skill = write_skill(tmp_path / "above" / "deploy")
    (skill / "SKILL.md").write_text("---\nname: deploy\n---\n")
    catalog = _catalog(tmp_path / "above", below)
    _refused(catalog)
    before = catalog.generation
    write_skill(skill, description="Of the person.")
    catalog.refresh()
    assert catalog.get("deploy").description == "Of the person."
    assert catalog.generation == before + 1


@as_root
@pytest.mark.parametrize("what", ["file", "skill", "category", "root"])
def test_an_enterprise_skill_that_is_refused_is_not_replaced_by_one_of_the_project(
    tmp_path: Path, below: Path, what: str
) -> None:
    root = tmp_path / "enterprise"
    skill = write_skill(root / "category" / "deploy")
    weak = {"file": skill / "SKILL.md", "skill": skill, "category": root / "category", "root": root}[what]
    weak.chmod(weak.stat().st_mode | 0o022)
    catalog = Catalog(
        EnterpriseSource(str(root), layer=Layer.ENTERPRISE), DirectorySource(str(below), layer=Layer.PROJECT)
    )
    assert str(weak) in _refused(catalog)
    assert "catalog.enterprise" in rules(catalog)


@as_root
@pytest.mark.parametrize("weak", ["skill.md", "scripts", "scripts/run.py"])
def test_a_skill_in_the_other_spelling_is_checked_like_any_other(tmp_path: Path, weak: str) -> None:
    skill = write_skill(tmp_path / "skills" / "low")
    (skill / "SKILL.md").rename(skill / "skill.md")
    (skill / "scripts").mkdir()
    (skill / "scripts" / "run.py").write_text("print(1)")
    source = EnterpriseSource(str(tmp_path / "skills"), layer=Layer.ENTERPRISE)
    assert names(Catalog(source).entries()) == ["low"]
    (skill / weak).chmod(0o777)
    catalog = Catalog(source)
    assert catalog.entries() == ()
    assert str(skill / weak) in finding(catalog, "catalog.enterprise").message
