from __future__ import annotations

import time

import pytest

from prowess.config.settings import path_setting


@pytest.mark.parametrize(
    ("pattern", "fits", "not_fits"),
    [
        ("vendor", "vendor vendor/a x/vendor x/vendor/a/b", "vendors x/vendor.md"),
        ("vendor/", "vendor x/vendor/a", "vendors"),
        ("docs/*", "docs/a docs/a/b", "docs x/docs/a"),
        ("docs/**", "docs/a docs/a/b", "docs x/docs/a"),
        ("/docs", "docs docs/a", "docs2"),
        ("**/docs/*", "docs/a x/docs/a x/y/docs/a/b", "docs a"),
        ("a/**/b", "a/b a/x/b a/x/y/b a/b/c", "b a x/a/b"),
        ("**", "a a/b", ""),
        (".", "a a/b", ""),
        ("*.tmp", "a.tmp x/a.tmp", "a.tmpx"),
        ("[ab]?", "a1 x/b2", "c1 a"),
        ("./docs/x", "docs/x", "x"),
    ],
)
def test_patterns_mean_what_they_mean_to_gitignore(pattern: str, fits: str, not_fits: str) -> None:
    glob = path_setting(pattern)
    assert [path for path in fits.split() if not glob.matches_or_is_below(path.split("/"))] == []
    assert [path for path in not_fits.split() if glob.matches_or_is_below(path.split("/"))] == []


def test_the_directory_of_the_file_itself_is_everything_alone() -> None:
    assert path_setting(".").matches_or_is_below([])
    assert not path_setting("**").matches_or_is_below([])
    assert not path_setting("*").matches_or_is_below([])


@pytest.mark.parametrize(
    ("pattern", "says"),
    [("", "is empty"), ("  ", "is empty"), ("a/../b", "leaves the directory"), ("a/" * 70, "has 70 parts")],
)
def test_a_pattern_that_means_nothing_is_refused(pattern: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        path_setting(pattern)


@pytest.mark.unmeasured  # coverage makes it several times slower
def test_no_pattern_takes_long() -> None:
    began = time.process_time()
    assert not path_setting("*a" * 500 + "b").matches_or_is_below(["a" * 2000])
    assert not path_setting("**/a/" * 31 + "b").matches_or_is_below(["a"] * 1000)
    assert time.process_time() - began < 2
