"""Trying skills out: the scenarios of a skill, run in real sessions with doubles of the model and of named tools.

report = run_tests("examples/skills/csv-report")
assert report.passed
"""

from __future__ import annotations

from prowess.evals.graders.registry import Grader, grader
from prowess.evals.scenarios.report import CaseResult, Grade, GradedRun, TestReport
from prowess.evals.scenarios.running import TestConfiguration, run_tests

__all__ = ["CaseResult", "Grade", "GradedRun", "Grader", "TestConfiguration", "TestReport", "grader", "run_tests"]
