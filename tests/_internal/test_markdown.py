from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from prowess._internal.markdown import links, possible_targets

if TYPE_CHECKING:
    import pytest

TEXT = """\
Sée [a](x.md) and ![i](y.png "t"), `[n](code)`, <https://e.org>, <m@e.org>.

| t |
|---|
| [b](z.md) |

    [c](indented)

```
[d](fenced)
```
<!-- [e](comment) -->

[f][ref] [g]: no

[ref]: w.md
"""


def test_links_and_images_are_found_with_their_place_in_code_points() -> None:
    found = links(TEXT)
    assert [link.target for link in found] == ["x.md", "y.png", "z.md", "w.md"]
    assert TEXT[found[0].start : found[0].end] == "[a](x.md)"
    assert TEXT[found[1].start : found[1].end] == '![i](y.png "t")'
    assert TEXT[found[3].start : found[3].end] == "[f][ref]"


def test_without_pyromark_the_same_links_are_found_in_their_paragraphs(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [link.target for link in links(TEXT)]
    monkeypatch.setitem(sys.modules, "pyromark", None)
    found = links(TEXT)
    assert [link.target for link in found] == expected
    assert all("[" in TEXT[link.start : link.end] for link in found)


_PARTS = st.sampled_from(
    [
        "[a",
        "](",
        "]: ",
        "]:\n",
        "](\n> ",
        "<",
        ">",
        " ",
        "\n",
        "\n\n",
        ")",
        "!",
        "x.md",
        "b(c)",
        "\\",
        "&amp;",
        "%20",
        "\u3000",
        "`",
    ]
)


@given(st.lists(_PARTS, max_size=30).map("".join))
def test_no_link_has_a_target_that_the_look_without_a_parser_missed(text: str) -> None:
    for link in links(text):
        written = [target for target in possible_targets(text) if link.target in target or set("\\&") & set(target)]
        assert written or not link.target, (link, list(possible_targets(text)))
