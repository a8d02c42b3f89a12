from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.runtime.files.sections import MAX_TITLE, outline

_GUIDE = """\
---
name: x
description: y
---
Before.

# Guide ü

Text.

## Usage!

```sh
# not a heading
```

Usage
-----

    # indented code

### Deep ###
end
# Last
"""


def _text(source: str, start: int, end: int) -> str:
    return source.encode()[start:end].decode()


def test_headings_become_sections_that_hold_their_subsections() -> None:
    found = {section.slug: section for section in outline(_GUIDE)}

    assert [(s.slug, s.title, s.level) for s in found.values()] == [
        ("preamble", "", 0),
        ("guide-ü", "Guide ü", 1),
        ("usage", "Usage!", 2),
        ("usage-2", "Usage", 2),
        ("deep", "Deep", 3),
        ("last", "Last", 1),
    ]
    assert _text(_GUIDE, found["preamble"].start, found["preamble"].end).endswith("Before.\n\n")
    guide = _text(_GUIDE, found["guide-ü"].start, found["guide-ü"].end)
    assert guide.startswith("# Guide ü\n")
    assert guide.endswith("end\n")
    assert _text(_GUIDE, found["usage-2"].start, found["usage-2"].end).startswith("Usage\n-----\n")


def test_front_matter_is_no_heading_and_an_open_fence_hides_the_rest() -> None:
    assert [s.slug for s in outline("---\nname: a\n---\n~~~\n# x\n")] == ["preamble"]


def test_a_fence_ends_only_at_one_as_long_of_the_same_kind() -> None:
    assert [s.slug for s in outline("````\n```\n# no\n~~~~\n````\n# yes\n")] == ["preamble", "yes"]


def test_a_rule_or_a_list_before_dashes_is_no_heading() -> None:
    assert [s.slug for s in outline("- item\n---\n\n---\n> quote\n---\n")] == ["preamble"]


def test_a_heading_named_like_the_preamble_and_one_without_words_have_slugs_of_their_own() -> None:
    assert [s.slug for s in outline("# Preamble\n#\n## ***\n")] == ["preamble", "preamble-2", "section", "section-2"]


def test_a_slug_that_looks_like_an_ordinal_stays_unique() -> None:
    slugs = [s.slug for s in outline("# a\n# a-2\n# a\n# a\n")]

    assert len(set(slugs)) == len(slugs)


@given(st.text(alphabet="#`~-= \na\r\tü>"))
def test_sections_cover_the_text_and_slugs_are_unique(text: str) -> None:
    sections = outline(text)

    assert len({s.slug for s in sections}) == len(sections)
    assert sections[0].start == 0
    starts = [s.start for s in sections]
    assert starts == sorted(starts)
    for section in sections:
        assert _text(text, section.start, section.end) is not None


@pytest.mark.unmeasured  # coverage makes it several times slower
def test_a_file_of_headings_alone_takes_linear_time() -> None:
    text = "# a\n" * 20_000

    begun = time.process_time()
    sections = outline(text)

    assert len(sections) == 20_001
    assert time.process_time() - begun < 3


@pytest.mark.unmeasured  # coverage makes it several times slower
@pytest.mark.parametrize(
    "text",
    [
        "# x" + " " * 500_000 + "x\n",
        "# " + " #" * 250_000 + " x\n",
        "#" * 500_000 + "\n",
        "-" * 500_000 + "x\n",
        "a\n-" + " " * 500_000 + "x\n",
        "`" * 500_000 + "x`\n",
        "a\n" * 250_000 + "---\n",
        "# a-2\n# a-3\n" * 10_000 + "# a\n" * 20_000,
    ],
    ids=["blanks", "closings", "hashes", "dashes", "dash and blanks", "fence", "one paragraph", "ordinals"],
)
def test_half_a_megabyte_made_to_be_slow_is_not(text: str) -> None:
    begun = time.process_time()
    outline(text)

    assert time.process_time() - begun < 2


def test_a_title_is_cut_and_never_inside_a_character() -> None:
    (_, atx), (_, setext) = outline("# " + "ü" * 5000), outline("word\n" * 5000 + "===\n")

    assert atx.title == "ü" * (MAX_TITLE // 2)
    assert setext.title.startswith("word word ")
    assert len(setext.title) <= MAX_TITLE
    assert len(atx.slug) <= MAX_TITLE


def test_closing_hashes_are_no_part_of_a_title() -> None:
    titles = [s.title for s in outline("# a ##\n# b##\n# c #d\n# ##\n#\te\t#\t\n#f\n")]

    assert titles == ["", "a", "b##", "c #d", "", "e"]
