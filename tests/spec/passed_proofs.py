"""A pytest plugin for runs of all tests: each due `must` needs a test that declares it and passed.

    pytest -p tests.spec.passed_proofs

`test_coverage.py` checks the declarations of tests; this plugin checks their results. If a declared test was skipped,
for example because the machine has no sandbox, its requirement is not proved. The run then fails and names it.

A run in two parts passes `--record-proofs FILE` to the first part, which only records, and `--recorded-proofs FILE` to
the second.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spec.manifest import reached_milestones, requirements

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.spec.manifest import Requirement

_PROPERTY = "proves"


class PassedProofs:
    """Counts the ids of tests that passed. With xdist it works in the process that collects the reports."""

    def __init__(self, record: str | None = None, recorded: str | None = None) -> None:
        self.passed: set[str] = set(Path(recorded).read_text(encoding="utf-8").split()) if recorded else set()
        self._record = record

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the ids of a test that passed."""
        if report.when == "call" and report.passed:
            self.passed.update(str(value) for name, value in report.user_properties if name == _PROPERTY)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Fail a green run if a due `must` has no passed test, or record the ids of the first part."""
        if hasattr(session.config, "workerinput"):
            return
        if self._record is not None:
            Path(self._record).write_text("\n".join(sorted(self.passed)), encoding="utf-8")
            return
        if exitstatus != pytest.ExitCode.OK:
            return
        if unproved(requirements(), self.passed, reached_milestones()):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the number of proved requirements and the names of the others."""
        if self._record is not None:
            return
        due = [item for item in requirements() if _is_due(item, reached_milestones())]
        left = unproved(due, self.passed, reached_milestones())
        terminalreporter.write_line(f"requirements: {len(due) - len(left)} of {len(due)} due proved by a passed test")
        for identity in left:
            terminalreporter.write_line(f"not proved by a passed test: {identity}")


def unproved(known: Iterable[Requirement], passed: set[str], reached: frozenset[str]) -> list[str]:
    """Return the ids of due `must` requirements that are not among `passed`, sorted."""
    return sorted(item.id for item in known if _is_due(item, reached) and item.id not in passed)


def _is_due(item: Requirement, reached: frozenset[str]) -> bool:
    return item.level == "must" and item.due in reached


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a run in two parts."""
    parser.addoption("--record-proofs", metavar="FILE", help="write the ids that passed to FILE, and judge nothing")
    parser.addoption("--recorded-proofs", metavar="FILE", help="count the ids in FILE as passed")


def pytest_configure(config: pytest.Config) -> None:
    """Register the counter."""
    proofs = PassedProofs(config.getoption("--record-proofs"), config.getoption("--recorded-proofs"))
    config.pluginmanager.register(proofs, "passed-proofs-counter")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Add the ids of a test to its reports, so that they reach the collecting process from a worker too."""
    for mark in item.iter_markers("proves"):
        item.user_properties.extend((_PROPERTY, identity) for identity in mark.args)
