from __future__ import annotations

import pytest

from prowess.lint.skill_files import names_folder, names_whole


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("See `references/` for more.", True),
        ("everything in references/ and", True),
        ("references/a.md and references/<topic>.md", False),
        ("\u251c\u2500\u2500 references/   # more", False),
        ("references/\n", False),
        ("my-references/ holds", False),
    ],
)
def test_a_directory_is_named_as_such_outside_drawn_trees(text: str, *, named: bool) -> None:
    assert names_folder(text, "references") is named


@pytest.mark.parametrize(
    ("text", "named"), [("see api.md.", True), ("references/api.md", True), ("my-api.md", False), ("api.mdx", False)]
)
def test_a_name_counts_as_a_whole(text: str, *, named: bool) -> None:
    assert names_whole(text, "api.md") is named


@pytest.mark.parametrize("text", ["", "a", "ab c", "a-b"])
def test_an_empty_name_is_in_no_text_and_the_search_for_it_ends(text: str) -> None:
    assert not names_whole(text, "")
