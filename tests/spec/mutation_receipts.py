"""Run the mutations: each in a copy of the package, against the one test that has to notice.

    python -m tests.spec.mutation_receipts              run all
    python -m tests.spec.mutation_receipts ID...        run these
    python -m tests.spec.mutation_receipts --due        run those that have no run as they are now

Each prints a table, records the runs and writes docs/reference/receipts.md (`tests.spec.receipt_record`).
Few requirements are kept by files beside the package, as the proof is; their tests run in a copy of the whole tree.

Exits with 1 unless every mutation was caught. Caught means: the test passes with the package as it is, and with the
mutation in it fails by an assertion. A test that cannot be collected, that breaks off in its preparation or with some
other exception, or that imports the package from elsewhere, is no receipt.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from tests.spec.mutations import PACKAGE, Mutation, mutations
from tests.spec.receipt_record import CAUGHT, ROOT, due, record, recorded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WORKERS = 2
SURVIVED = "survived"
_LONGEST_RUN = 120.0  # seconds for one test on a machine that is busy

# The package is imported first and its place is the first line, so that no run is believed that tested another copy.
# pytest would warn about that, because the package has a plugin of pytest.
_PROGRAM = (
    "import sys, prowess, pytest; print(prowess.__file__, flush=True); "
    "sys.exit(pytest.main(['-W', 'ignore::pytest.PytestAssertRewriteWarning', *sys.argv[1:]]))"
)
# A parent that measures coverage or is itself a test must not reach into the run.
_FOREIGN = ("COV_", "COVERAGE_", "PYTEST_", "PYTHON")
# How pytest reports `assert`, an assertion in a module it has not rewritten, and `pytest.fail` or `pytest.raises`.
_ASSERTIONS = ("assert ", "AssertionError", "Failed: ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one run of tests did.

    `passed` are tests as `path::name`, once for each set of parameters; `failures` are the first lines of messages.
    `errors` counts tests that broke off in their preparation or could not be collected.
    """

    exit_code: int
    output: str
    passed: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    errors: int = 0

    def passes(self, test: str) -> bool:
        """Tell whether the test passed with at least one set of parameters and failed with none."""
        return self.exit_code in {0, 1} and not self.errors and test in self.passed and test not in self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A mutation and its outcome: `caught`, `survived`, or one sentence saying why nothing is shown."""

    mutation: Mutation
    outcome: str


def receipts(chosen: Sequence[Mutation]) -> list[Receipt]:
    """Run the mutations against one state of the package, two at a time; the order is kept."""
    with tempfile.TemporaryDirectory(prefix="receipts-") as place:
        # Taken once: whoever edits the package meanwhile changes no receipt.
        pristine = Path(place, "pristine")
        shutil.copytree(ROOT / PACKAGE, pristine / "prowess")
        whole = run_tests(sorted({mutation.test for mutation in chosen}), pristine, Path(place, "whole"))

        def receipt(numbered: tuple[int, Mutation]) -> Receipt:
            number, mutation = numbered
            if not whole.passes(mutation.test):
                return Receipt(mutation=mutation, outcome=f"the test does not pass as it is: {_summary(whole)}")
            try:
                outcome = judged(_run_mutated(mutation, pristine, Path(place, str(number))))
            except ValueError as fault:
                outcome = str(fault)
            return Receipt(mutation=mutation, outcome=outcome)

        with ThreadPoolExecutor(WORKERS) as pool:
            return list(pool.map(receipt, enumerate(chosen)))


def _run_mutated(mutation: Mutation, pristine: Path, place: Path) -> Run:
    """Run the test against a mutated copy; ValueError where the mutation does not fit."""
    package = place / "package"
    shutil.copytree(pristine, package)
    if Path(mutation.file).is_relative_to(PACKAGE):
        _mutate(mutation, package / Path(mutation.file).relative_to(Path(PACKAGE).parent))
        return run_tests([mutation.test], package, place / "run")
    # What lies beside the package is read from beside the tests, so they get a tree of their own.
    tree = shutil.copytree(ROOT, place / "tree", ignore=shutil.ignore_patterns(".*", "__pycache__"), symlinks=True)
    _mutate(mutation, tree / mutation.file)
    return run_tests([mutation.test], package, place / "run", tree=tree)


def _mutate(mutation: Mutation, file: Path) -> None:
    file.write_text(mutation.applied(file.read_text(encoding="utf-8")), encoding="utf-8")
    # Compiled code is believed by size and second, and a mutation may change neither.
    Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)


def judged(run: Run) -> str:
    """Return the outcome of a run with the mutation in it."""
    if run.exit_code == 0 and run.passed:
        return SURVIVED
    if run.exit_code == 1 and not run.errors and any(text.startswith(_ASSERTIONS) for text in run.failures):
        return CAUGHT
    return f"no assertion failed: {_summary(run)}"


def run_tests(tests: Sequence[str], package: Path, place: Path, *, tree: Path = ROOT) -> Run:
    """Run tests of `tree`, with all their parameters, against the package in the directory `package`."""
    place.mkdir(parents=True)
    report = place / "report.xml"
    options = ["-q", "-p", "no:cacheprovider", f"--basetemp={place / 'tmp'}", f"--junit-xml={report}"]
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, *options, *tests],
            cwd=tree,
            env=environment_of(os.environ, package),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=_LONGEST_RUN,
        )
    except subprocess.TimeoutExpired:
        text = f"it did not end within {_LONGEST_RUN:.0f} seconds"
        return Run(exit_code=-1, output=text)
    first, _, rest = done.stdout.partition("\n")
    if not Path(first).is_relative_to(package) or not report.exists():
        return Run(exit_code=-1, output=done.stdout)
    cases = list(ET.parse(report).getroot().iter("testcase"))  # noqa: S314 -- written by the run above
    return Run(
        exit_code=done.returncode,
        output=rest,
        passed=tuple(_node(case) for case in cases if len(case) == 0),
        skipped=tuple(_node(case) for case in cases if case.find("skipped") is not None),
        failed=tuple(_node(case) for case in cases if case.find("failure") is not None),
        failures=tuple(
            failure.attrib["message"].partition("\n")[0] for case in cases for failure in case.iter("failure")
        ),
        errors=sum(case.find("error") is not None for case in cases),
    )


def _node(case: ET.Element) -> str:
    """Return the test of a case as `path::name`, without parameters."""
    return f"{case.attrib['classname'].replace('.', '/')}.py::{case.attrib['name'].partition('[')[0]}"


def environment_of(given: Mapping[str, str], package: Path) -> dict[str, str]:
    """Return an environment in which another copy of the package is imported, and nothing of this test run counts."""
    kept = {name: value for name, value in given.items() if not name.startswith(_FOREIGN)}
    # Before the installed package on the path, for the test and for every process that it starts.
    return {**kept, "PYTHONPATH": str(package)}


def _summary(run: Run) -> str:
    if run.failures:
        return run.failures[0]
    if run.skipped and not run.errors:
        return "it was skipped"
    return next((line for line in reversed(run.output.splitlines()) if line.strip()), "no output")


def table(found: Sequence[Receipt]) -> str:
    """Return the outcomes for a terminal, one line each."""
    wide = max((len(receipt.mutation.id) for receipt in found), default=0)
    lines = [f"{receipt.mutation.id:<{wide}}  {receipt.outcome:<8}  {receipt.mutation.test}" for receipt in found]
    caught = sum(receipt.outcome == CAUGHT for receipt in found)
    return "\n".join([*lines, f"{caught} of {len(found)} caught"]) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; return its exit code."""
    parser = argparse.ArgumentParser(prog="mutation_receipts", description="Break requirements; see tests notice.")
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these requirements")
    parser.add_argument("--due", action="store_true", help="those that have no run as they are now")
    options = parser.parse_args(arguments)
    known = mutations()
    if unknown := set(options.ids) - {mutation.id for mutation in known}:
        parser.error(f"no mutation for {', '.join(sorted(unknown))}")
    wanted = {mutation.id for mutation in due(recorded(), known)} if options.due else set(options.ids)
    found = receipts([mutation for mutation in known if mutation.id in wanted or not (wanted or options.due)])
    sys.stdout.write(table(found))
    record({receipt.mutation.id: receipt.outcome for receipt in found}, known)
    return 0 if all(receipt.outcome == CAUGHT for receipt in found) else 1


if __name__ == "__main__":
    sys.exit(main())
