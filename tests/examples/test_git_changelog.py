from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.examples.conftest import Outcome

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.com",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.com",
    "GIT_AUTHOR_DATE": "2026-03-02T10:00:00Z",
    "GIT_COMMITTER_DATE": "2026-03-02T10:00:00Z",
}


def _git(place: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=place, env=ENVIRONMENT, capture_output=True, text=True, check=True, timeout=20
    )
    return done.stdout.strip()


def _commit(place: Path, *paragraphs: str) -> str:
    messages = [part for text in paragraphs for part in ("-m", text)]
    _git(place, "commit", "--allow-empty", "-q", *messages)
    return _git(place, "rev-parse", "HEAD")


@pytest.fixture
def repository(workspace: Path) -> Path:
    _git(workspace, "init", "-q", "-b", "main")
    _commit(workspace, "feat: first")
    _git(workspace, "tag", "v1.0.0")
    _commit(workspace, "feat(export): write totals as JSON")
    _commit(workspace, "Fix the time zone of imported dates")
    _commit(workspace, "feat(cli)!: drop the --legacy flag")
    _commit(workspace, "chore: tidy up")
    _commit(workspace, "refactor: new core", "BREAKING CHANGE: the old core is gone")
    wrong = _commit(workspace, "feat: a mistake")
    _commit(workspace, 'Revert "feat: a mistake"', f"This reverts commit {wrong}.")
    _commit(workspace, "Grüße <b>&</b> `more`")
    return workspace


def test_the_section_covers_everything_since_the_newest_tag(run: Callable[..., Outcome], repository: Path) -> None:
    done = run("git-changelog", "changelog.py", "--version", "1.1.0")
    assert (done.code, done.stderr) == (0, "")
    lines = [line.rsplit(" (", 1)[0] for line in done.stdout.splitlines() if line]
    assert lines == [
        "## 1.1.0 - 2026-03-02",
        "<!-- v1.0.0..HEAD: 8 commits, 3 left out -->",
        "### Breaking",
        "- new core",
        "- **cli:** drop the --legacy flag",
        "### Added",
        "- **export:** write totals as JSON",
        "### Fixed",
        "- Fix the time zone of imported dates",
        "### Other",
        "- Grüße <b>&</b> `more`",
    ]
    assert _git(repository, "rev-parse", "--short=7", "HEAD") in done.stdout


def test_the_repository_is_left_as_it_was(run: Callable[..., Outcome], repository: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in repository.rglob("*")}
    assert run("git-changelog", "changelog.py", "--all").code == 0
    assert {path: path.stat().st_mtime_ns for path in repository.rglob("*")} == before


def test_settings_of_the_repository_run_no_program(run: Callable[..., Outcome], repository: Path) -> None:
    marker = repository / "ran"
    for key in ("core.fsmonitor", "core.pager", "gpg.program"):
        _git(repository, "config", key, f"touch {marker}; false")
    _git(repository, "config", "log.showSignature", "true")
    assert run("git-changelog", "changelog.py").code == 0
    assert not marker.exists()


def test_a_range_and_json(run: Callable[..., Outcome], repository: Path) -> None:
    done = run("git-changelog", "changelog.py", "--from", "v1.0.0", "--to", "HEAD~7", "--json")
    report = json.loads(done.stdout)
    assert (report["range"], report["commits"], report["shallow"]) == ("v1.0.0..HEAD~7", 1, False)
    assert [entry["subject"] for entry in report["sections"]["Added"]] == ["write totals as JSON"]
    _git(repository, "tag", "v1.1.0")
    assert "<!-- v1.0.0..HEAD: 8 commits" in run("git-changelog", "changelog.py").stdout


def test_without_a_tag_the_whole_history_counts(run: Callable[..., Outcome], repository: Path) -> None:
    _git(repository, "tag", "-d", "v1.0.0")
    assert "<!-- everything up to HEAD: 9 commits" in run("git-changelog", "changelog.py").stdout


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--from", "v9"], 3, "no revision 'v9'; the newest tags are v1.0.0"),
        (["--from", "--all"], 2, "expected one argument"),
        (["--to", "--output=x"], 2, "expected one argument"),
        (["--to=--output=x"], 3, "no revision '--output=x'"),
        (["--repo", "nowhere"], 1, "nowhere"),
    ],
)
def test_what_cannot_be_done_is_said(
    run: Callable[..., Outcome], repository: Path, args: list[str], code: int, said: str
) -> None:
    del repository
    done = run("git-changelog", "changelog.py", *args)
    assert done.code == code
    assert said in done.stderr


def test_a_folder_without_history_is_no_repository(run: Callable[..., Outcome]) -> None:
    done = run("git-changelog", "changelog.py")
    assert done.code == 1
    assert "not a git repository" in done.stderr
