"""Contents of skills by name: what `agentskills_core` hosts get, without that package."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.adapters.skill_contents import SkillContents
from prowess.catalog import Catalog
from prowess.errors import (
    LimitExceededError,
    NotAFileError,
    ResourceNotFoundError,
    SkillNotFoundError,
    UnsafePathError,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two skills; the first has a byte order mark, a nested file and a link to the second."""
    for name, mark in (("first", "\ufeff"), ("second", "")):
        deep = tmp_path / name / "references" / "deep"
        deep.mkdir(parents=True)
        text = f"{mark}---\nname: {name}\ndescription: one --- two\nmetadata:\n  rows: 3\n---\nBody of {name}.\n"
        (tmp_path / name / "SKILL.md").write_text(text, encoding="utf-8")
        (deep / "er.md").write_text("Deep.\n", encoding="utf-8")
    (tmp_path / "first" / "references" / "link.md").symlink_to(tmp_path / "second" / "SKILL.md")
    return tmp_path


def test_metadata_and_body_come_from_what_is_written(root: Path) -> None:
    contents = SkillContents(Catalog(root))
    assert contents.frontmatter("first") == {"name": "first", "description": "one --- two", "metadata": {"rows": 3}}
    assert contents.body("first").strip() == "Body of first."


def test_what_is_listed_is_what_can_be_read(root: Path) -> None:
    contents = SkillContents(Catalog(root))
    assert contents.paths("first") == ["SKILL.md", "references/deep/er.md"]
    assert contents.below("first", "references") == ["deep/er.md"]
    assert contents.below("first", "assets") == []
    assert contents.file("first", "deep/er.md", below="references") == b"Deep.\n"
    assert contents.file("first", "SKILL.md").startswith(b"\xef\xbb\xbf---")


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("../../second/references/deep/er.md", UnsafePathError),
        ("../SKILL.md", UnsafePathError),
        ("/etc/passwd", UnsafePathError),
        ("link.md", UnsafePathError),
        ("%2e%2e/SKILL.md", ResourceNotFoundError),
        ("deep", NotAFileError),
        ("nothing.md", ResourceNotFoundError),
    ],
)
def test_nothing_but_a_file_of_this_directory_is_read(root: Path, path: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        SkillContents(Catalog(root)).file("first", path, below="references")


def test_what_is_too_large_is_refused(root: Path) -> None:
    contents = SkillContents(Catalog(root), max_bytes=10)
    assert contents.file("first", "deep/er.md", below="references") == b"Deep.\n"
    for ask in (contents.frontmatter, contents.body):
        with pytest.raises(LimitExceededError):
            ask("first")
    with pytest.raises(LimitExceededError):
        contents.file("first", "SKILL.md")


def test_a_digest_follows_the_files_and_is_none_beside_a_link(root: Path) -> None:
    contents = SkillContents(Catalog(root))
    before = contents.digest("second")
    assert before == Catalog(root).skill("second").digest
    assert before is not None
    (root / "second" / "references" / "deep" / "er.md").write_text("Edited.\n", encoding="utf-8")
    assert contents.digest("second") not in {None, before}
    assert contents.digest("first") is None


def test_names_are_scanned_anew_and_hidden_ones_are_left_out(root: Path) -> None:
    contents = SkillContents(Catalog(root))
    assert contents.names() == ["first", "second"]
    document = root / "second" / "SKILL.md"
    text = document.read_text(encoding="utf-8").replace("metadata:", "disable-model-invocation: true\nmetadata:")
    document.write_text(text, encoding="utf-8")
    assert contents.names() == ["first"]
    assert contents.body("second").strip() == "Body of second."
    with pytest.raises(SkillNotFoundError):
        contents.body("third")
