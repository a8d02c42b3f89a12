"""The plugin must notice that a test which proves a requirement was skipped, in one process and in several."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.spec.manifest import reached_milestones, requirements
from tests.spec.passed_proofs import unproved

PROJECT = Path(__file__).parents[2]
DUE = sorted(item.id for item in requirements() if item.level == "must" and item.due in reached_milestones())


def _suite(folder: Path, *, skip: str | None) -> Path:
    """Write one test for each due requirement; the one for `skip` is skipped."""
    lines = ["import pytest", ""]
    for number, identity in enumerate(DUE):
        if identity == skip:
            lines.append("@pytest.mark.skip(reason='no sandbox')")
        lines += [f"@pytest.mark.proves({identity!r})", f"def test_{number}() -> None:", "    assert True", ""]
    path = folder / "test_made.py"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def _run(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.spec.passed_proofs", "-p", "no:cacheprovider"]
    made = [*command, *options, "-c", str(PROJECT / "pyproject.toml"), f"--rootdir={PROJECT}", str(path)]
    return subprocess.run(made, cwd=PROJECT, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_a_skipped_proof_fails_the_run_and_is_named(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = _run(_suite(tmp_path, skip=DUE[0]), *options)
    assert done.returncode == 1, done.stdout
    assert f"requirements: {len(DUE) - 1} of {len(DUE)} due proved by a passed test" in done.stdout
    assert f"not proved by a passed test: {DUE[0]}" in done.stdout


def test_a_run_in_which_every_proof_passed_is_green(tmp_path: Path) -> None:
    done = _run(_suite(tmp_path, skip=None))
    assert done.returncode == 0, done.stdout
    assert f"requirements: {len(DUE)} of {len(DUE)} due proved by a passed test" in done.stdout


def test_what_is_not_due_is_not_demanded() -> None:
    later = [item for item in requirements() if item.due not in reached_milestones()]
    assert unproved(later, set(), reached_milestones()) == []
