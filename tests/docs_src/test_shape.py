"""The shape of the pages: no long line outside tables and code, no long page, an index of all decisions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools import decisions
from tools.wrap_pages import WIDTH, long_lines, wrapped

_DOCS = Path(__file__).parents[2] / "docs"
_PAGES = sorted(_DOCS.rglob("*.md"))


def test_no_line_of_prose_is_longer_than_the_limit() -> None:
    found = {page.relative_to(_DOCS).as_posix(): long_lines(page.read_text(encoding="utf-8")) for page in _PAGES}
    assert {page: lines for page, lines in found.items() if lines} == {}, "run `python -m tools.wrap_pages`"


def test_no_page_is_longer_than_300_lines() -> None:
    lengths = {page.name: page.read_text(encoding="utf-8").count("\n") for page in _PAGES}
    assert {name: length for name, length in lengths.items() if length > 300} == {}


_WORDS = " ".join(["word"] * 40)


@pytest.mark.parametrize(
    "kept",
    [
        f"| {_WORDS} |",
        f"```text\n{_WORDS}\n```",
        f"    ```text\n    {_WORDS}\n    ```",
        f"# {_WORDS}",
        f"<!-- not run: {_WORDS} -->",
        f"[{_WORDS}](page.md)",
        "word\nword",
    ],
)
def test_tables_code_headings_comments_links_and_short_lines_are_kept(kept: str) -> None:
    assert wrapped(kept) == kept
    assert long_lines(kept) == []


def test_a_paragraph_and_an_item_are_wrapped_alone() -> None:
    page = f"short\nlines\n\n- {_WORDS}\n- `a b` short\n\n{_WORDS}\n"
    lines = wrapped(page).split("\n")
    assert max(map(len, lines)) <= WIDTH
    assert lines[:3] == ["short", "lines", ""]
    assert lines[3].startswith("- word")
    assert lines[4].startswith("  word")
    assert "- `a b` short" in lines
    assert long_lines(page) == [4, 7]
    assert wrapped("\n".join(lines)) == "\n".join(lines)


def test_no_line_begins_with_what_would_begin_a_list_a_heading_or_a_table() -> None:
    for marker in ("-", "+", "*", "#", "1.", "|", ">"):
        page = " ".join([f"word {marker} word"] * 40)
        assert [line for line in wrapped(page).split("\n") if line.startswith(marker)] == []


def test_code_spans_and_links_stay_in_one_line() -> None:
    page = " ".join([f"`git push --force {number}` [a link](page{number}.md)" for number in range(20)])
    assert all(f"`git push --force {number}`" in wrapped(page) for number in range(20))
    assert all(f"[a link](page{number}.md)" in wrapped(page) for number in range(20))


def test_the_index_of_decisions_is_that_of_the_records() -> None:
    assert decisions.INDEX.read_text(encoding="utf-8") == decisions.index(), "run `make docs`"


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("0001-a.md", "# 1. A title\n\n## Context\n"),
        ("0001-a.md", "# 1. A title\n\nStatus: accepted\n"),
        ("0001-a.md", "# 1. A title\n\nStatus: perhaps, 2026-01-02\n"),
        ("0002-a.md", "# 1. A title\n\nStatus: accepted, 2026-01-02\n"),
    ],
)
def test_a_record_without_number_status_or_date_is_refused(name: str, head: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(head)
    with pytest.raises(ValueError, match=name):
        decisions.index(tmp_path)


def test_the_index_shows_what_replaces_a_record(tmp_path: Path) -> None:
    (tmp_path / "0012-b.md").write_text(
        "# 12. B\n\nStatus: superseded in part by\n[ADR 3](0003-a.md), 2026-01-02. Why.\n"
    )
    assert "| 12 | [B](0012-b.md) | superseded in part by [ADR 3](0003-a.md) | 2026-01-02 |" in decisions.index(
        tmp_path
    )


def test_a_replaced_record_names_one_that_exists() -> None:
    named = re.findall(r"superseded[^|]*?\((\d{4}-[^)]+)\)", decisions.index())
    assert named
    assert [name for name in named if not (decisions.FOLDER / name).exists()] == []
