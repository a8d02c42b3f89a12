"""The reference library's own tests against the shim, where a checkout of it is named.

PROWESS_REFERENCE_CHECKOUT is a checkout of agentskills/agentskills or an unpacked source archive of skills-ref. In
continuous integration (CI is set) the archive is fetched from the package index; elsewhere a test needs no network, and
`make reference` does the same by hand.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "run_reference_tests.py"
# Read at import: the tests' environment is cleared of ours.
CHECKOUT = os.environ.get("PROWESS_REFERENCE_CHECKOUT") or ("--download" if os.environ.get("CI") else None)


@pytest.mark.unmeasured
@pytest.mark.proves("tooling.api.upstream-tests")
@pytest.mark.skipif(
    CHECKOUT is None,
    reason="PROWESS_REFERENCE_CHECKOUT names no checkout of the reference library; `make reference` fetches it",
)
def test_all_forty_tests_of_the_reference_library_pass() -> None:
    done = subprocess.run([sys.executable, str(TOOL), str(CHECKOUT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def _checkout(tmp_path: Path, test: str) -> Path:
    tests = tmp_path / "skills-ref" / "tests"
    tests.mkdir(parents=True)
    (tests / "test_one.py").write_text(f"from skills_ref.parser import find_skill_md\n{test}\n")
    return tmp_path


@pytest.mark.unmeasured
def test_the_tool_binds_the_name_of_the_reference_to_the_shim(tmp_path: Path) -> None:
    test = "def test_home():\n    assert find_skill_md.__module__ == 'prowess.compat.skills_ref.parser'"
    command = [sys.executable, str(TOOL), str(_checkout(tmp_path, test))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "1 of the reference library's 40 tests pass" in done.stdout
    assert done.returncode == 1  # one is not forty
    assert list(tmp_path.rglob("__pycache__")) == []


@pytest.mark.unmeasured
def test_the_tool_refuses_a_folder_without_tests(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(TOOL), str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
