from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prowess._internal.files.contained import check_relative
from prowess.catalog.skill_uri import parse_skill_uri, skill_uri
from prowess.errors import UnsafePathError
from prowess.format import name_faults

PART = st.text(st.characters(exclude_characters="/\\\0", codec="utf-8"), min_size=1, max_size=12)
NAME = st.from_regex(r"[a-zа-яéß0-9]+(-[a-z0-9]+)*", fullmatch=True).filter(lambda name: not name_faults(name))


@pytest.mark.unmeasured
@pytest.mark.proves("runtime.edge.mcp-uris")
@example(name="a", parts=["a b+c", "%41%2e", "~ü"])
@given(name=NAME, parts=st.lists(PART.filter(lambda part: part not in {".", ".."}), max_size=4))
def test_every_name_and_path_survives_the_way_there_and_back(name: str, parts: list[str]) -> None:
    path = "/".join(parts)
    uri = skill_uri(name, path)
    assert uri.isascii()
    assert parse_skill_uri(uri) == (name, path)
    assert parse_skill_uri(uri.replace("skill://", "SKILL://")) == (name, path)
    split = urlsplit(uri)
    assert (split.scheme, split.query, split.fragment) == ("skill", "", "")


@pytest.mark.parametrize(
    ("name", "path", "uri"),
    [
        ("pdf", "", "skill://pdf"),
        ("pdf", "SKILL.md", "skill://pdf/SKILL.md"),
        ("pdf", "a b/100%/ü?#&.md", "skill://pdf/a%20b/100%25/%C3%BC%3F%23%26.md"),
        ("größe", "x", "skill://gr%C3%B6%C3%9Fe/x"),
    ],
)
def test_uris_look_like_this(name: str, path: str, uri: str) -> None:
    assert skill_uri(name, path) == uri
    assert parse_skill_uri(uri) == (name, path)
    assert parse_skill_uri(uri.replace("%C3", "%c3")) == (name, path)


@pytest.mark.parametrize(
    "uri",
    [
        "skill://",
        "skill:///SKILL.md",
        "skill:pdf/SKILL.md",
        "file:///etc/passwd",
        "skill://pdf/",
        "skill://pdf//a",
        "skill://pdf/../other/SKILL.md",
        "skill://pdf/%2e%2e/other/SKILL.md",
        "skill://pdf/a%2Fb",
        "skill://pdf/a%5Cb",
        "skill://pdf/a%00b",
        "skill://%2e%2e/SKILL.md",
        "skill://a%2Fb/SKILL.md",
        "skill://pdf/%zz",
        "skill://pdf/%",
        "skill://pdf/%FF",
        "skill://pdf/SKILL.md?x=1",
        "skill://pdf/SKILL.md#x",
    ],
)
def test_what_could_mean_another_place_is_refused_as_text(uri: str) -> None:
    with pytest.raises(ValueError, match=r"skill URI|percent-encoded|another place"):
        parse_skill_uri(uri)


def test_nothing_is_decoded_twice() -> None:
    assert parse_skill_uri("skill://pdf/%252e%252e/x") == ("pdf", "%2e%2e/x")
    assert check_relative("%2e%2e/x") == ("%2e%2e", "x")
    with pytest.raises(UnsafePathError):
        check_relative("../x")
