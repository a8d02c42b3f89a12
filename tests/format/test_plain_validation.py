"""What is plainly valid is judged without a document, exactly as with one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.corpus import write_corpus
from prowess.format.plain_validation import document_or_nothing
from prowess.format.profiles import PROFILES
from prowess.format.reading import read_document
from prowess.format.validation import validate_skill
from tests.conformance.format_cases import lay_out, parameters

if TYPE_CHECKING:
    from pathlib import Path

_PLAIN = b"---\nname: a\ndescription: d\n---\n"
_SPEC = PROFILES["spec"]


def _agrees(directory: Path) -> bool:
    """Judge in every profile with and without a document; return whether `spec` needed none."""
    document = read_document(directory)
    for profile in PROFILES:
        for references in (True, False):
            quick = validate_skill(directory, profile=profile, references=references)
            assert quick == validate_skill(document, profile=profile, references=references), profile
    return document_or_nothing(directory, _SPEC, references=True) is None


@pytest.mark.parametrize("case", parameters())
def test_a_case_is_judged_alike_by_both_ways(case: dict[str, Any], tmp_path: Path) -> None:
    _agrees(lay_out(case, tmp_path))


def test_ordinary_skills_need_no_document(tmp_path: Path) -> None:
    write_corpus(str(tmp_path / "corpus"), 60)
    assert all(_agrees(directory) for directory in (tmp_path / "corpus").iterdir())


@pytest.mark.parametrize(
    ("body", "plain"),
    [
        (b"", True),
        (b"text", True),
        (b"\n\n" + b"line\n" * 498, True),
        (b"line\n" * 500 + b"one more", False),
        (b"[a](references/a.md)", True),
        (b"[a](../b/SKILL.md)", False),
        (b"[a]({baseDir}/../b.md) [b](${CLAUDE_SKILL_DIR}/../b.md)", True),
        (b"[a](/etc/passwd)", False),
        (b"[a]: ../b\n\n[a]", False),
        (b"`[a](../b)`", True),
        (b"[a](https://example.org/../b)", True),
        (b"one\rtwo", False),
        (b"\xff", False),
        (b"a\0b", False),
        (b"---\n\nname: b\n", True),
        (b"x" * 2 * 2**20, False),
    ],
)
def test_the_body_decides_whether_a_document_is_needed(tmp_path: Path, body: bytes, plain: object) -> None:
    skill = tmp_path / "a"
    skill.mkdir()
    (skill / "SKILL.md").write_bytes(_PLAIN + body)
    assert _agrees(skill) is plain


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: a\ndescription: d\n---",  # no line break at the end
        "\ufeff---\nname: a\ndescription: d\n---\n",
        "---\nname: a\ndescription: d\n--- \nB",
        "---\nname: a\ndescription: d\n---\n---\nB",
        "---\n---\nname: a\ndescription: d\n---\n",
        "---\nname: a\ndescription: d\nmetadata:\n  version: 1.0\n---\n",
        "---\nname: a\ndescription: d\nversion: 1\n---\n",
        "---\nname: a\ndescription: d\nallowed-tools: Read, Write\n---\n",
        "---\nname: é\ndescription: d\n---\n",
        "---\nname: a\ndescription: é\n---\n\u2028",
        "---\nname: a\ndescription: |\n  " + "word\n  " * 16_500 + "\n---\n",
    ],
)
def test_front_matter_of_every_kind_is_judged_alike(tmp_path: Path, text: str) -> None:
    skill = tmp_path / "a"
    skill.mkdir()
    (skill / "SKILL.md").write_text(text, encoding="utf-8", newline="")
    _agrees(skill)


def test_a_file_of_another_spelling_is_judged_alike(tmp_path: Path) -> None:
    skill = tmp_path / "a"
    skill.mkdir()
    (skill / "skill.md").write_bytes(_PLAIN)
    assert not _agrees(skill)
    assert [found.rule for found in validate_skill(skill)] == ["file.name"]


def test_what_is_no_directory_is_judged_alike(tmp_path: Path) -> None:
    assert not _agrees(tmp_path / "nowhere")
