"""Run the reference library's own tests against `prowess.compat.skills_ref`.

    python tools/run_reference_tests.py CHECKOUT
    python tools/run_reference_tests.py --download

CHECKOUT is the repository agentskills/agentskills, its folder skills-ref, or an unpacked source archive of the
published package. `--download` fetches that archive with pip, which asks its build backend for its name: hatchling, of
the extra `dev`. The tests run where they are, unchanged: only the module name `skills_ref` is bound to ours, in this
process. Exit code 0 if all pass and there are forty of them.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest

SHIM = "prowess.compat.skills_ref"
SUBMODULES = ("cli", "errors", "models", "parser", "prompt", "validator")
PUBLISHED = "skills-ref==0.1.1"
EXPECTED = 40


class _Counter:
    """Counts what passed, so that an empty folder is no success."""

    def __init__(self) -> None:
        self.passed = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed += report.when == "call" and report.passed


def main(arguments: list[str]) -> int:
    """Run the tests of one checkout; return the exit code."""
    parser = argparse.ArgumentParser(description="Run the reference library's tests against our shim.")
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("checkout", nargs="?", type=Path)
    chosen.add_argument("--download", action="store_true", help=f"fetch the source archive of {PUBLISHED}")
    options = parser.parse_args(arguments)
    if not options.download:
        return run(options.checkout)
    with tempfile.TemporaryDirectory() as folder:
        return run(_download(Path(folder)))


def run(checkout: Path) -> int:
    """Run the tests found in `checkout`."""
    tests = next((found for found in (checkout / "skills-ref/tests", checkout / "tests") if found.is_dir()), None)
    if tests is None:
        sys.stderr.write(f"{checkout} holds neither skills-ref/tests nor tests\n")
        return 2
    os.environ.pop("PYTEST_ADDOPTS", None)  # they may be for plugins, and none is loaded
    sys.dont_write_bytecode = True  # the checkout stays as it is
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # these tests need none, and loading all takes seconds
    bind_reference_name()
    counter = _Counter()
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull]
    status = pytest.main([*options, f"--rootdir={tests}", "--import-mode=importlib", str(tests)], plugins=[counter])
    sys.stdout.write(f"{counter.passed} of the reference library's {EXPECTED} tests pass against {SHIM}\n")
    return 0 if status == 0 and counter.passed == EXPECTED else 1


def bind_reference_name() -> None:
    """Let `import skills_ref` and its submodules give the shim."""
    sys.modules["skills_ref"] = importlib.import_module(SHIM)
    for name in SUBMODULES:
        sys.modules[f"skills_ref.{name}"] = importlib.import_module(f"{SHIM}.{name}")


def _download(folder: Path) -> Path:
    # An isolated build would fetch the backend and all that it needs, each time: ten requests in place of two.
    as_source = ("--no-deps", "--no-binary", ":all:", "--no-build-isolation")
    patience = ("--timeout", "20", "--retries", "3")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", *as_source, *patience]
    subprocess.run([*command, "--dest", str(folder), PUBLISHED], check=True)
    archive = next(folder.glob("*.tar.gz"))
    with tarfile.open(archive) as source:
        source.extractall(folder, filter="data")
    return next(entry for entry in folder.iterdir() if entry.is_dir())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
