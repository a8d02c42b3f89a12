"""Trying skills out: the scenarios of a skill, run in real sessions with doubles of the model and of named tools.

report = run_tests("examples/skills/csv-report")
assert report.passed

Public names are imported lazily: pytest imports `prowess.evals.pytest_plugin` in every run of an environment that has
`pytest-prowess`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.evals.graders.registry import Grader, grader
    from prowess.evals.scenarios.report import CaseResult, Grade, GradedRun, TestReport
    from prowess.evals.scenarios.running import TestConfiguration, run_tests

__all__ = ["CaseResult", "Grade", "GradedRun", "Grader", "TestConfiguration", "TestReport", "grader", "run_tests"]

_HOMES = {
    "graders.registry": ("Grader", "grader"),
    "scenarios.report": ("CaseResult", "Grade", "GradedRun", "TestReport"),
    "scenarios.running": ("TestConfiguration", "run_tests"),
}

if not TYPE_CHECKING:  # a type checker that sees `__getattr__` would accept any name
    __getattr__ = lazy_names(__name__, _HOMES)
