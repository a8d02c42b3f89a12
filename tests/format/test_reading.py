from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from prowess.catalog import Catalog
from prowess.diagnostics import Severity
from prowess.errors import InvalidArgumentsError, InvalidSkillError, SkillParseError
from prowess.format import find_skill_directories, read_document, read_skill, require_valid, validate_skill
from prowess.format.limits import MAX_DOCUMENT_BYTES
from prowess.format.profiles import PROFILES

TEXT = "---\nname: pdf\ndescription: Fills forms.\n---\nBody\n"


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    directory = tmp_path / "pdf"
    directory.mkdir()
    (directory / "SKILL.md").write_text(TEXT, encoding="utf-8")
    return directory


def only(directory: Path) -> tuple[str, str | None]:
    document = read_document(directory)
    (found,) = document.diagnostics
    assert document.fields == ()
    assert not document.complete
    return found.rule, found.detail


@pytest.mark.proves("format.skill.directory")
def test_a_skill_is_read_from_its_directory_or_its_file(skill: Path) -> None:
    for target in (skill, skill / "SKILL.md", f"{skill}/"):
        read = read_skill(target)
        assert (read.name, read.description, read.body) == ("pdf", "Fills forms.", "Body\n")
        assert read.root_dir == str(skill)
        assert read.location == str(skill / "SKILL.md")
        assert read.diagnostics == ()
        assert read.digest == read.manifest.digest
        assert read.document_digest == read.document.document_digest


@pytest.mark.proves("format.directory.scripts", "format.directory.references", "format.directory.assets")
def test_every_other_file_is_a_resource_of_a_kind(skill: Path) -> None:
    for name in ("scripts/run.go", "references/a/b.md", "assets/t.json", "scripts", "NOTES.md"):
        file = skill / name
        if "/" in name:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"x")
    (skill / "NOTES.md").write_bytes(b"xy")
    (skill / "scripts" / "run.go").chmod(0o755)
    resources = {resource.path: resource for resource in read_skill(skill).resources}
    assert {path: resource.kind for path, resource in resources.items()} == {
        "NOTES.md": "other",
        "assets/t.json": "asset",
        "references/a/b.md": "reference",
        "scripts/run.go": "script",
    }
    assert resources["scripts/run.go"].executable
    assert resources["NOTES.md"].size == 2
    assert len(resources["NOTES.md"].sha256) == 64


@pytest.mark.proves("format.name.directory-resolved")
def test_a_skill_is_valid_from_inside_its_directory(skill: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(skill)
    for target in (".", "SKILL.md"):
        assert validate_skill(target) == []
        assert validate_skill(target, profile="skills-ref") == []
    assert read_document(".").path == "SKILL.md"


@pytest.mark.proves("format.file.missing", "format.file.other-casing")
def test_a_missing_file_is_a_diagnostic(tmp_path: Path) -> None:
    assert only(tmp_path) == ("file.missing", None)
    assert only(tmp_path / "no") == ("file.missing", "path")
    (tmp_path / "file").write_text("x")
    assert only(tmp_path / "file") == ("file.missing", "directory")
    (tmp_path / "Skill.md").write_text(TEXT)
    (found,) = read_document(tmp_path).diagnostics
    assert "Skill.md is not read, rename it to SKILL.md" in found.message


@pytest.mark.parametrize("spelling", ["Skill.md", "SKILL.MD", "skill.MD", "Skill.Md", "sKILL.md", "SkIlL.mD"])
@pytest.mark.proves("format.file.other-casing")
def test_a_further_spelling_is_no_skill_and_the_message_names_the_rename(tmp_path: Path, spelling: str) -> None:
    directory = tmp_path / "pdf"
    directory.mkdir()
    (directory / spelling).write_text(TEXT)
    (directory / "notes.md").write_text(TEXT)
    for profile in PROFILES:
        faults = validate_skill(directory, profile=profile)
        assert [found.severity for found in faults] == [Severity.ERROR]
    [found] = validate_skill(directory)
    assert found.rule == "file.missing"
    assert f"{spelling} is not read, rename it to SKILL.md" in found.message
    assert "notes.md" not in found.message
    with pytest.raises(SkillParseError):
        read_skill(directory, profile="lenient")
    assert Catalog(tmp_path).entries() == ()
    (directory / spelling).rename(directory / "SKILL.md")
    assert validate_skill(directory) == []


@pytest.mark.proves("format.file.casing", "format.file.both")
def test_the_lower_spelling_is_read_with_a_warning_unless_both_are_there(skill: Path) -> None:
    (skill / "SKILL.md").rename(skill / "skill.md")
    (found,) = validate_skill(skill)
    assert (found.rule, found.severity, found.skill) == ("file.name", Severity.WARNING, "pdf")
    assert read_skill(skill).location.endswith("/skill.md")
    (skill / "SKILL.md").write_text(TEXT)
    assert validate_skill(skill) == []


@pytest.mark.proves("format.file.regular")
def test_only_a_regular_file_is_opened(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.mkdir()
    assert only(tmp_path) == ("file.notRegular", "directory")
    file.rmdir()
    os.mkfifo(file)
    assert only(tmp_path) == ("file.notRegular", "special")
    file.unlink()
    (tmp_path / "real.md").write_text(TEXT)
    file.symlink_to("real.md")
    assert only(tmp_path) == ("file.notRegular", "link")
    file.unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(tmp_path)  # the name of a socket has to be short
        try:
            listener.bind("SKILL.md")
        finally:
            os.chdir(here)
        assert only(tmp_path) == ("file.notRegular", "special")


def test_what_the_system_refuses_is_a_diagnostic(skill: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("prowess.format.reading.os.open", refuse)
    assert only(skill) == ("file.unreadable", None)
    monkeypatch.undo()
    monkeypatch.setattr("prowess.format.reading.os.read", refuse)
    assert only(skill) == ("file.unreadable", None)
    monkeypatch.undo()
    monkeypatch.setattr("prowess.format.reading.os.scandir", refuse)
    assert only(skill) == ("file.unreadable", None)


def test_a_huge_file_is_read_up_to_the_limit(skill: Path) -> None:
    with (skill / "SKILL.md").open("ab") as file:
        file.truncate(MAX_DOCUMENT_BYTES * 3)
    document = read_document(skill)
    assert "file.size" in [found.rule for found in document.diagnostics]
    assert len(document.text) <= MAX_DOCUMENT_BYTES


def test_a_skill_that_does_not_load_says_why(skill: Path) -> None:
    (skill / "SKILL.md").write_text("---\nname: pdf\n---\n")
    with pytest.raises(SkillParseError, match="description is missing") as refusal:
        read_skill(skill)
    assert refusal.value.location.line == 1
    assert [found.rule for found in refusal.value.diagnostics] == ["description.required"]


def test_a_strict_profile_loads_only_what_is_valid(skill: Path) -> None:
    (skill / "SKILL.md").write_text(TEXT.replace("name: pdf", "name: PDF"))
    assert read_skill(skill).name == "PDF"
    with pytest.raises(SkillParseError):
        read_skill(skill, profile="spec")
    with pytest.raises(InvalidSkillError) as invalid:
        require_valid(skill)
    assert {found.rule for found in invalid.value.diagnostics} == {"name.format", "name.matchesDirectory"}
    require_valid(skill, profile="lenient")
    with pytest.raises(InvalidArgumentsError, match="did you mean 'spec'"):
        validate_skill(skill, profile="specs")
    with pytest.raises(InvalidArgumentsError, match="profiles: spec"):
        validate_skill(skill, profile="zzz")


def test_a_directory_that_goes_away_meanwhile_is_a_parse_error(skill: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(_: str, **__: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("prowess._internal.files.tree_digest.read_stamped_tree", gone)
    with pytest.raises(SkillParseError, match="files cannot be read"):
        read_skill(skill)


def test_validate_takes_a_path_a_document_and_a_skill(skill: Path) -> None:
    (skill / "SKILL.md").write_text(TEXT.replace("Body", "[x](/y)"))
    for target in (skill, read_document(skill), read_skill(skill)):
        assert [found.rule for found in validate_skill(target)] == ["reference.absolute"]
        assert validate_skill(target, references=False) == []


def test_folders_of_skills_are_walked_once_sorted_and_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("b/z", "b/a", "c", ".git/d", "node_modules/e", "b/a/inner"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "SKILL.md").write_text(TEXT)
    (tmp_path / "b" / "loop").symlink_to(tmp_path)
    (tmp_path / "b" / "dangling").symlink_to("nowhere")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "Skill.MD").write_text(TEXT)
    found = find_skill_directories(str(tmp_path))
    assert [os.path.relpath(path, tmp_path) for path in found.paths] == ["b/a", "b/z", "c", "d"]
    assert found.notes == ()
    assert find_skill_directories(str(tmp_path / "c")).paths == (str(tmp_path / "c"),)
    monkeypatch.setattr("prowess.format.skill_directories.MAX_DEPTH", 1)
    assert "levels deep" in find_skill_directories(str(tmp_path)).notes[0]
    monkeypatch.setattr("prowess.format.skill_directories.MAX_DIRECTORIES", 2)
    assert "more than 2 directories" in find_skill_directories(str(tmp_path)).notes[0]
    assert "cannot be read" in find_skill_directories(str(tmp_path / "none")).notes[0]
