"""Passages have the ranges that a reader expects, and removing one leaves a well-formed text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.errors import InvalidArgumentsError
from prowess.evals.ablation.passages import MAX_FILE_BYTES, passages_of

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.evals.ablation.passages import PassageFile, PassageKind

HEAD = "---\nname: a\ndescription: b\n---\n"


def _file(folder: Path, body: str, kind: PassageKind) -> PassageFile:
    (folder / "SKILL.md").write_text(HEAD + body, encoding="utf-8")
    (found,) = passages_of(str(folder), kind)
    return found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("One. Two, e.g. this. See `a. b`! Three", ["One.", "Two, e.g. this.", "See `a. b`!", "Three"]),
        ("Read [a. b](c.md). Then 1.5 is fine.", ["Read [a. b](c.md).", "Then 1.5 is fine."]),
        ("第一。第二！", ["第一。", "第二！"]),
        ("# Title\n\n- x\n  - y\n\n> q\n", ["x", "y", "q"]),
        ("```sh\na. b\n```\n", ["```sh\na. b\n```"]),
        ("| a |\n|---|\n| b. C |\n", ["| b. C |"]),
        ("<!-- no. Yes. -->\n", []),
        ("", []),
    ],
)
def test_sentences(tmp_path: Path, body: str, expected: list[str]) -> None:
    assert [passage.text for passage in _file(tmp_path, body, "sentence").passages] == expected


@pytest.mark.parametrize(
    ("kind", "at", "after"),
    [
        ("sentence", 0, "- Two.\n- three\n  - four\n\nEnd.\n"),
        ("sentence", 2, "- One. Two.\n  - four\n\nEnd.\n"),
        ("item", 1, "- One. Two.\n\nEnd.\n"),
        ("item", 2, "- One. Two.\n- three\n\nEnd.\n"),
        ("section", 0, ""),
    ],
)
def test_removing_a_passage_leaves_no_bare_marker(tmp_path: Path, kind: PassageKind, at: int, after: str) -> None:
    file = _file(tmp_path, "- One. Two.\n- three\n  - four\n\nEnd.\n", kind)
    assert file.without(file.passages[at]) == HEAD + after


def test_a_negated_passage_is_still_there(tmp_path: Path) -> None:
    file = _file(tmp_path, "Ask first. Then act.\n", "sentence")
    assert file.negated(file.passages[1]).endswith("Ask first. Do the opposite of what follows: Then act.\n")


def test_sections_cover_the_body_and_code_has_no_headings(tmp_path: Path) -> None:
    body = "Intro.\n\n# A\n\ntext\n\n```sh\n# no heading\n```\n\n## B\n\nmore\n"
    found = _file(tmp_path, body, "section")
    assert [(one.line, one.end_line) for one in found.passages] == [(5, 6), (7, 14), (15, 17)]
    assert "".join(found.text[one.start : one.end] for one in found.passages) == body


def test_links_and_huge_files_are_refused_or_left_out(tmp_path: Path) -> None:
    (tmp_path / "references").mkdir()
    (tmp_path / "references" / "link.md").symlink_to("/etc/hostname")
    assert [file.path for file in passages_of(_with(tmp_path, "One."), "sentence")] == ["SKILL.md"]
    (tmp_path / "references" / "big.md").write_text("x" * (MAX_FILE_BYTES + 1))
    with pytest.raises(InvalidArgumentsError, match="more than 1 MiB"):
        passages_of(str(tmp_path), "sentence")


def _with(folder: Path, body: str) -> str:
    (folder / "SKILL.md").write_text(HEAD + body, encoding="utf-8")
    return str(folder)
