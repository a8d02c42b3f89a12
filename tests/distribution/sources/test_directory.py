"""A directory as a source: what it offers, and what is copied."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from prowess._internal.files.tree_digest import read_tree
from prowess.distribution.sources.opening import open_source
from prowess.distribution.sources.protocol import Offer, SkillSource
from prowess.errors import DistributionError, UnavailableError, UnsafePathError
from prowess.lockfile.source_reference import parse_reference


def write_skill(directory: Path, version: str = "") -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    extra = f'metadata:\n  version: "{version}"\n' if version else ""
    text = f"---\nname: {directory.name}\ndescription: Does {directory.name}.\n{extra}---\n# Do it\n"
    (directory / "SKILL.md").write_text(text, encoding="utf-8")
    return directory


def source(place: Path) -> SkillSource:
    return open_source(parse_reference(str(place)), scratch=str(place.parent / "scratch"))


def test_the_skills_of_a_directory_are_offered_with_their_versions(tmp_path: Path) -> None:
    place = tmp_path / "skills"
    write_skill(place / "pdf", "1.2.0")
    write_skill(place / "office" / "docx")
    found = source(place)
    assert found.offers() == (
        Offer(name="docx", package="skills", path="office/docx", description="Does docx."),
        Offer(name="pdf", package="skills", path="pdf", version="1.2.0", description="Does pdf."),
    )
    assert found.offers("1.2.0") == found.offers()[1:]
    assert (found.versions(), found.contacted, found.problems) == ((), (), ())
    with pytest.raises(DistributionError, match=r"no skill with the version '2\.0\.0'; versions there: 1\.2\.0"):
        found.offers("2.0.0")


def test_a_copy_has_the_signature_which_the_digest_does_not_cover(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "skills" / "pdf")
    (skill / "skill.oms.sig").write_text("{}")
    (tmp_path / "into").mkdir()
    found = source(tmp_path / "skills")
    fetched = found.fetch(found.offers()[0], str(tmp_path / "into"))
    assert (Path(fetched.directory) / "skill.oms.sig").read_text() == "{}"
    (skill / "skill.oms.sig").unlink()
    assert fetched.tree == read_tree(str(skill)).digest == read_tree(fetched.directory).digest


def test_a_copy_is_private_and_complete_and_has_the_digest_of_the_skill(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "skills" / "pdf")
    (skill / "scripts").mkdir()
    (skill / "scripts" / "fill.py").write_bytes(b"print()\r\n")
    (skill / "scripts" / "fill.py").chmod(0o775)
    (skill / ".git").mkdir()
    (skill / ".git" / "config").touch()
    (tmp_path / "into").mkdir()
    found = source(tmp_path / "skills")
    (offer,) = found.offers()
    fetched = found.fetch(offer, str(tmp_path / "into"))
    copy = Path(fetched.directory)
    assert copy == tmp_path / "into" / "pdf"
    assert sorted(path.relative_to(copy).as_posix() for path in copy.rglob("*")) == [
        "SKILL.md",
        "scripts",
        "scripts/fill.py",
    ]
    assert fetched.tree == read_tree(str(copy)).digest == read_tree(str(skill)).digest
    assert {stat.S_IMODE(path.stat().st_mode) for path in copy.rglob("*")} == {0o600, 0o700}
    assert fetched.source == str(tmp_path / "skills")
    with pytest.raises(DistributionError, match="exists"):
        found.fetch(offer, str(tmp_path / "into"))
    assert copy.is_dir(), "the first copy is kept"


def test_a_directory_that_is_itself_a_skill_is_offered_with_an_empty_path(tmp_path: Path) -> None:
    write_skill(tmp_path / "pdf")
    assert [(offer.name, offer.path) for offer in source(tmp_path / "pdf").offers()] == [("pdf", "")]


def test_a_link_to_a_file_of_the_skill_becomes_a_copy_and_every_other_link_is_refused(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "skills" / "pdf")
    (skill / "AGENTS.md").write_bytes(b"text")
    (skill / "CLAUDE.md").symlink_to("AGENTS.md")
    into = tmp_path / "into"
    into.mkdir()
    found = source(tmp_path / "skills")
    fetched = found.fetch(found.offers()[0], str(into))
    assert (into / "pdf" / "CLAUDE.md").read_bytes() == b"text"
    assert not (into / "pdf" / "CLAUDE.md").is_symlink()
    assert fetched.tree == read_tree(fetched.directory).digest
    (tmp_path / "secret").touch()
    for target in ("../../secret", str(tmp_path / "secret"), "missing", ".", "/dev/null"):
        (skill / "CLAUDE.md").unlink()
        (skill / "CLAUDE.md").symlink_to(target)
        (tmp_path / "again").mkdir()
        with pytest.raises(UnsafePathError, match=r"CLAUDE\.md"):
            found.fetch(found.offers()[0], str(tmp_path / "again"))
        assert os.listdir(tmp_path / "again") == []
        (tmp_path / "again").rmdir()


@pytest.mark.parametrize("name", ["aux.md", "NUL", "a:b", "end.", "com1.txt"])
def test_a_file_that_another_system_cannot_have_is_refused_and_nothing_is_left(tmp_path: Path, name: str) -> None:
    skill = write_skill(tmp_path / "skills" / "pdf")
    (skill / name).touch()
    (tmp_path / "into").mkdir()
    found = source(tmp_path / "skills")
    with pytest.raises(UnsafePathError):
        found.fetch(found.offers()[0], str(tmp_path / "into"))
    assert os.listdir(tmp_path / "into") == []


def test_two_files_that_are_one_if_case_is_ignored_are_refused(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "skills" / "pdf")
    (skill / "Read.md").touch()
    (skill / "read.md").touch()
    (tmp_path / "into").mkdir()
    found = source(tmp_path / "skills")
    with pytest.raises(UnsafePathError, match="if case or the Unicode form is ignored"):
        found.fetch(found.offers()[0], str(tmp_path / "into"))


def test_the_skills_of_a_marketplace_have_their_plugin_as_package(tmp_path: Path) -> None:
    place = tmp_path / "market"
    write_skill(place / "plugins" / "office" / "skills" / "docx")
    write_skill(place / "tools" / "pdf")
    write_skill(place / "drafts" / "unlisted")
    (place / ".claude-plugin").mkdir()
    plugins = [
        {"name": "office", "source": "./plugins/office"},
        {"name": "pdf-tools", "source": "./", "skills": ["./tools/pdf"]},
        {"name": "elsewhere", "source": {"source": "github", "repo": "acme/other"}},
    ]
    (place / ".claude-plugin" / "marketplace.json").write_text(json.dumps({"name": "m", "plugins": plugins}))
    found = source(place)
    assert [(offer.name, offer.package) for offer in found.offers()] == [("docx", "office"), ("pdf", "pdf-tools")]
    assert any("'elsewhere' is at another place and is not fetched" in problem for problem in found.problems)


def test_a_faulty_skill_is_left_out_with_the_reason(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "pdf")
    (tmp_path / "skills" / "broken").mkdir()
    (tmp_path / "skills" / "broken" / "SKILL.md").write_text("no front matter")
    found = source(tmp_path / "skills")
    assert [offer.name for offer in found.offers()] == ["pdf"]
    assert len(found.problems) == 1
    assert found.problems[0].startswith("broken/SKILL.md: ")


def test_a_directory_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match=r"nowhere \(it does not exist\)"):
        source(tmp_path / "nowhere").offers()
