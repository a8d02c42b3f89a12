"""The glob engine: components, `**` and alternatives, and no pattern that takes long."""

from __future__ import annotations

import time

import pytest

from prowess._internal.globs import PathGlob, fits_text


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("a/*", "a/b a/.b", "a a/b/c b/a"),
        ("a/**", "a/b a/b/c", "a b"),
        ("a/**/**/b", "a/b a/x/b a/x/y/b", "a b a/b/c"),
        ("**", "a a/b", ""),
        ("[!a]/[^a]", "b/b", "a/b b/a"),
        ("A?", "Ab", "ab A Abc"),
    ],
)
def test_a_path_matches_component_by_component(pattern: str, matching: str, others: str) -> None:
    glob = PathGlob.parse(pattern)
    assert [path for path in matching.split() if not glob.matches(path.split("/"))] == []
    assert [path for path in others.split() if glob.matches(path.split("/"))] == []
    assert not glob.matches([])


def test_one_of_several_alternatives_is_enough() -> None:
    glob = PathGlob.parse("a/b", "*.md", floating=True)
    assert [glob.matches(path.split("/")) for path in ("a/b", "x/y.md", "x/a/b")] == [True, True, False]


def test_a_walk_learns_where_nothing_can_match() -> None:
    glob = PathGlob.parse("docs/*.md")
    assert not glob.step(glob.start(), "src")
    inside = glob.step(glob.start(), "docs")
    assert inside
    assert not glob.accepts(inside)
    assert glob.accepts(glob.step(inside, "a.md"))


def test_in_a_text_a_star_crosses_slashes() -> None:
    assert fits_text("git push/main", "git *")
    assert not fits_text("Git push", "git *")


@pytest.mark.unmeasured  # coverage makes the loops several times slower
def test_no_pattern_takes_long() -> None:
    began = time.process_time()
    assert not PathGlob.parse("/".join(["**"] * 300 + ["**/a"] * 300) + "/b").matches(["a"] * 1000)
    assert not PathGlob.parse("*a" * 500 + "b").matches(["a" * 2000])
    assert not fits_text("a" * 2000, "*a" * 500 + "b")
    assert time.process_time() - began < 2
