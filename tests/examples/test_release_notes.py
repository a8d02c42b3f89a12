from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.examples.conftest import Outcome

KINDS = "Breaking, Added, Changed, Fixed, Security, Deprecated, Removed, Other"
CHANGELOG = """\
# Changelog

## [Unreleased]

## [1.10.0] - 2026-03-02

### Breaking
- **cli:** drop the --legacy flag (a1b2c3d)

### Added
- write totals as JSON,
  one object a line (d4e5f6a, #12)
- a second thing
- a third thing
- a fourth thing

### Fixed
- a literal {version} stays

## v1.9.0 \u2013 2026-01-02

### Security
- close a hole
"""


@pytest.fixture
def changelog(workspace: Path) -> str:
    (workspace / "CHANGELOG.md").write_text(CHANGELOG, encoding="utf-8")
    return "CHANGELOG.md"


def test_the_newest_released_section_becomes_a_draft(run: Callable[..., Outcome], changelog: str) -> None:
    done = run("release-notes", "notes.py", changelog)
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout == (
        "# 1.10.0\n\nReleased 2026-03-02. 1 breaking, 4 added, 1 fixed.\n\n"
        "write totals as JSON, one object a line\n\na second thing\n\na third thing\n\n"
        "## Before you upgrade\n\n- **Breaking:** **cli:** drop the --legacy flag\n\n"
        "## Everything else\n\n- a fourth thing\n- a literal {version} stays\n"
    )


def test_a_version_and_a_template_can_be_chosen(run: Callable[..., Outcome], workspace: Path, changelog: str) -> None:
    (workspace / "t.md").write_text("{version}: {upgrade} {unknown}")
    done = run("release-notes", "notes.py", changelog, "--version", "v1.9.0", "--template", "t.md")
    assert done.stdout == "1.9.0: - **Security:** close a hole {unknown}"


def test_faults_of_the_changelog_come_with_their_line(run: Callable[..., Outcome], workspace: Path) -> None:
    (workspace / "CHANGELOG.md").write_text(
        "## 1.9.0 - 2026-01-02\n### Fixed\n- a\n## 1.10.0 - 2026-03-02\n### Stuff\n- b\n## 1.8.0 - soon\n"
    )
    done = run("release-notes", "notes.py", "CHANGELOG.md")
    assert done.code == 1
    assert done.stdout.startswith("# 1.9.0\n")
    assert [line.split(": ", 1) for line in done.stderr.splitlines()] == [
        [
            "CHANGELOG.md:5",
            f"unknown kind of change 'Stuff'; known are {KINDS}",
        ],
        ["CHANGELOG.md:7", "1.8.0 has no date of the form YYYY-MM-DD"],
        ["CHANGELOG.md:7", "1.8.0 has no entries"],
        ["CHANGELOG.md:4", "1.10.0 stands below the older 1.9.0"],
        ["CHANGELOG.md:1", "1.9.0 is dated before 1.10.0"],
    ]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["CHANGELOG.md", "--version", "2.0"], 3, "no section for 2.0; there are: Unreleased, 1.10.0, 1.9.0"),
        (["none.md"], 2, "cannot read"),
        (["CHANGELOG.md", "--template", "none.md"], 2, "cannot read"),
    ],
)
def test_notes_say_what_is_wrong(
    run: Callable[..., Outcome], changelog: str, args: list[str], code: int, said: str
) -> None:
    del changelog
    done = run("release-notes", "notes.py", *args)
    assert done.code == code
    assert said in done.stderr


def test_every_place_that_states_a_version_is_compared(
    run: Callable[..., Outcome], workspace: Path, changelog: str
) -> None:
    del changelog
    (workspace / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1.10.0"\n[tool.y]\nversion = "3"\n')
    (workspace / "package.json").write_text('{"version": "1.9.9", "dependencies": {"version": "5"}}')
    (workspace / "VERSION").write_text("v1.10.0\n")
    done = run("release-notes", "versions.sh", "v1.10.0")
    assert done.code == 1
    assert done.stdout.splitlines() == [
        "ok      pyproject.toml: 1.10.0",
        "differs package.json: 1.9.9, wanted 1.10.0",
        "ok      CHANGELOG.md: 1.10.0",
        "ok      VERSION: 1.10.0",
    ]
    (workspace / "package.json").unlink()
    assert run("release-notes", "versions.sh", "1.10.0").code == 0


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [(["1.0"], 3, "states a version"), ([], 2, "usage:"), (["1.0", "none"], 2, "no directory none")],
)
def test_versions_says_what_is_wrong(run: Callable[..., Outcome], args: list[str], code: int, said: str) -> None:
    done = run("release-notes", "versions.sh", *args)
    assert done.code == code
    assert said in done.stderr
