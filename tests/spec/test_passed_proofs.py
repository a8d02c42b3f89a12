"""The plugin must notice that a test which proves a requirement was skipped, in one process and in several."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.spec.manifest import reached_milestones, requirements
from tests.spec.passed_proofs import unproved

pytestmark = pytest.mark.unmeasured

PROJECT = Path(__file__).parents[2]
DUE = sorted(item.id for item in requirements() if item.level == "must" and item.due in reached_milestones())


def _suite(folder: Path, *, skip: str | None) -> Path:
    """Write tests for the due requirements, five for each; the one for `skip` is alone and skipped."""
    others = [identity for identity in DUE if identity != skip]
    lines = ["import pytest", ""]
    for first in range(0, len(others), 5):
        ids = ", ".join(map(repr, others[first : first + 5]))
        lines += [f"@pytest.mark.proves({ids})", f"def test_{first}() -> None:", "    assert True", ""]
    if skip is not None:
        lines += ["@pytest.mark.skip(reason='no sandbox')", f"@pytest.mark.proves({skip!r})"]
        lines += ["def test_skipped() -> None:", "    assert True", ""]
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


def test_a_run_in_two_parts_is_judged_as_one(tmp_path: Path) -> None:
    first, second, record = tmp_path / "first", tmp_path / "second", str(tmp_path / "proofs")
    for folder, ids in ((first, DUE[:10]), (second, DUE[10:])):
        folder.mkdir()
        tests = [f"@pytest.mark.proves({one!r})\ndef test_{number}(): pass" for number, one in enumerate(ids)]
        (folder / "test_made.py").write_text("import pytest\n" + "\n".join(tests), encoding="utf-8")
    part = _run(first / "test_made.py", "--record-proofs", record)
    assert part.returncode == 0, part.stdout
    assert "requirements:" not in part.stdout, "a part is not judged"
    whole = _run(second / "test_made.py", "--recorded-proofs", record)
    assert whole.returncode == 0, whole.stdout
    assert f"requirements: {len(DUE)} of {len(DUE)} due proved by a passed test" in whole.stdout
    assert _run(second / "test_made.py").returncode == 1
