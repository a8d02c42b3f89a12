"""Globs on resolved paths: links are followed first, outside is outside, and no glob is slow."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from prowess.policy import patterns
from prowess.policy.patterns import PathPattern, judge_file, judge_search, resolve

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.policy.decision import Fit


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a workspace beside a secret, with links in and out."""
    inside = tmp_path / "workspace"
    (inside / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "secret").write_text("s", encoding="utf-8")
    (inside / "secrets").mkdir()
    (inside / "docs" / "out").symlink_to(tmp_path / "secret")
    (inside / "docs" / "up").symlink_to(inside / "secrets")
    (inside / "to-docs").symlink_to("docs")
    (inside / "loop").symlink_to("loop")
    return inside


def _file(pattern: str, path: object, workspace: Path | None) -> Fit:
    return judge_file([path], [PathPattern.parse(pattern)], None if workspace is None else str(workspace))


def _search(pattern: str, root: object, workspace: Path) -> Fit:
    return judge_search(root, [PathPattern.parse(pattern)], str(workspace))


def test_links_are_followed_before_a_path_is_matched(workspace: Path) -> None:
    assert _file("docs/**", "docs/a.md", workspace).certain
    assert _file("docs/**", "to-docs/a.md", workspace).certain
    assert not _file("to-docs/**", "to-docs/a.md", workspace).possible
    assert not _file("**", "docs/out", workspace).possible
    assert not _file("docs/**", "docs/up/key", workspace).possible
    assert _file("secrets/**", "docs/up/key", workspace).certain


def test_two_dots_climb_from_where_a_link_leads(workspace: Path) -> None:
    assert _file("/a.md", "docs/up/../a.md", workspace).certain  # from secrets, not from docs
    assert not _file("docs/**", "docs/up/../a.md", workspace).certain


def test_an_absolute_path_into_the_workspace_is_inside(workspace: Path) -> None:
    assert _file("docs/*", str(workspace / "docs" / "a.md"), workspace).certain


def test_the_workspace_may_be_named_through_a_link(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(workspace)
    assert _file("docs/*", "docs/a.md", tmp_path / "link").certain
    assert _file("docs/*", str(workspace / "docs" / "a.md"), tmp_path / "link").certain


def test_outside_only_an_absolute_glob_fits(workspace: Path, tmp_path: Path) -> None:
    secret = str(tmp_path / "secret")
    assert not _file("**", secret, workspace).possible
    assert _file(f"/{tmp_path}/*", secret, workspace).certain
    assert _file(f"/{tmp_path}/*", "docs/out", workspace).certain
    assert not _file(f"/{tmp_path}/*", "docs/a.md", workspace).possible


def test_without_a_workspace_only_absolute_paths_can_be_told(tmp_path: Path) -> None:
    fit = _file("*", "a.md", None)
    assert (fit.certain, fit.possible) == (False, True)
    assert _file(f"/{tmp_path}/*", str(tmp_path / "a"), None).certain
    assert resolve("a", None) is None


def test_what_leads_nowhere_may_be_anything_and_is_never_certain(workspace: Path) -> None:
    for path in ("a\0b", ""):
        fit = _file("*", path, workspace)
        assert (fit.certain, fit.possible) == (False, True)
    assert resolve("loop", str(workspace)) is not None  # stays where it is, and opening it will fail


@pytest.mark.proves("governance.policy.missing-argument")
def test_a_call_that_names_no_file_may_mean_any(workspace: Path) -> None:
    fit = judge_file([], [PathPattern.parse("*")], str(workspace))
    assert not fit.certain
    assert fit.possible


@pytest.mark.proves("governance.policy.one-path")
@pytest.mark.parametrize(
    "path",
    [
        "secrets/key",
        "./secrets/key",
        "secrets//key",
        "secrets/./key",
        "docs/../secrets/key",
        "docs/up/key",
        "/workspace/secrets/key",
        "/workspace//secrets/key",
        "/workspace/./secrets/key",
        "/workspace/docs/../secrets/key",
        "/workspace/docs/up/key",
        "{workspace}/secrets/key",
        "{workspace}//secrets/key",
        "{workspace}/docs/../secrets/key",
        "{link}/secrets/key",
    ],
)
def test_every_spelling_of_a_file_is_that_file(path: str, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(workspace)
    named = path.format(workspace=workspace, link=tmp_path / "link")
    assert _file("secrets/**", named, workspace).certain
    assert _file("secrets/**", named, tmp_path / "link").certain


def test_a_tilde_is_a_name(workspace: Path) -> None:
    assert _file("/~/a.md", "~/a.md", workspace).certain


def test_a_workspace_below_a_directory_of_the_general_name_keeps_its_own(tmp_path: Path) -> None:
    path = resolve("/workspace/project/secrets/key", "/workspace/project")
    assert path is not None
    assert path.inside == ("secrets", "key")


@pytest.mark.proves("governance.policy.one-path")
def test_case_does_not_count_where_the_system_ignores_it(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _file("secrets/**", "SECRETS/Key", workspace).possible
    monkeypatch.setattr(patterns, "ignores_case", lambda _: True)
    assert _file("secrets/**", "SECRETS/Key", workspace).certain
    assert _file("Secrets/*.PEM", "secrets/a.pem", workspace).certain
    assert _search("secrets/**", "SECRETS", workspace).certain
    assert _search("secrets/**", "/workspace/Secrets", workspace).possible
    assert _file("caf\u00e9/**", "cafe\u0301/x", workspace).certain


def test_of_several_files_each_must_fit_and_one_may_be_enough_to_refuse(workspace: Path) -> None:
    fit = judge_file(["docs/a", "b"], [PathPattern.parse("docs/**")], str(workspace))
    assert (fit.certain, fit.possible) == (False, True)
    assert fit.reason == "'b' fits none of 'docs/**'"


@pytest.mark.parametrize(
    ("pattern", "root", "certain", "possible"),
    [
        ("docs/**", "docs", True, True),
        ("docs/**", "docs/deep", True, True),
        ("docs/**", ".", False, True),
        ("docs/**", "secrets", False, False),
        ("docs/*", "docs", False, True),
        ("docs/deep/*.md", "docs", False, True),
        ("docs/deep/*.md", "secrets", False, False),
        ("*.md", "secrets", False, True),
        ("*", ".", True, True),
        ("**", ".", True, True),
        ("**", "/", False, False),
        ("docs/up", "docs/up", False, False),
        ("..", ".", False, False),
        ("../**", ".", False, False),
    ],
)
def test_a_search_fits_where_everything_below_does(
    workspace: Path,
    pattern: str,
    root: str,
    certain: bool,  # noqa: FBT001 -- a column of the table
    possible: bool,  # noqa: FBT001 -- the same
) -> None:
    fit = _search(pattern, root, workspace)
    assert (fit.certain, fit.possible) == (certain, possible)


def test_a_search_whose_place_is_no_text_may_be_anywhere(workspace: Path) -> None:
    fit = _search("docs/**", 3, workspace)
    assert (fit.certain, fit.possible) == (False, True)
    assert _search(f"/{workspace}/docs/**", str(workspace), workspace).possible


def test_an_empty_glob_fits_nothing(workspace: Path) -> None:
    for pattern in ("/", "//", "."):
        assert not _file(pattern, "a", workspace).possible
        assert not _file(pattern, ".", workspace).possible


@pytest.mark.unmeasured  # coverage makes it several times slower
def test_no_glob_is_slow(workspace: Path) -> None:
    begun = time.process_time()
    assert not _file("/".join(["**", "a"] * 200) + "/b", "/".join(["a"] * 300), workspace).certain
    assert not _file("*a" * 200 + "b", "a" * 200, workspace).certain
    assert time.process_time() - begun < 2
