"""Skills with scenarios, for the tests of this room."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from prowess.evals import CaseResult, TestReport, run_tests

if TYPE_CHECKING:
    from pathlib import Path


def make_skill(folder: Path, name: str = "ledger", *, front: str = "", body: str = "Name the sum.\n") -> Path:
    """Write a skill and return its directory."""
    skill = folder / name
    skill.mkdir(parents=True)
    text = f"---\nname: {name}\ndescription: Sums up the ledger of {name}.\n{front}---\n# Steps\n\n{body}"
    (skill / "SKILL.md").write_text(text, encoding="utf-8")
    return skill


def with_cases(skill: Path, *cases: dict[str, Any], tests: list[dict[str, Any]] | None = None) -> Path:
    """Write `evals/tests.yaml`, and the manifest if there are `tests`; JSON is YAML."""
    (skill / "evals").mkdir(exist_ok=True)
    (skill / "evals" / "tests.yaml").write_text(json.dumps({"cases": list(cases)}), encoding="utf-8")
    if tests is not None:
        (skill / "skill.manifest.yaml").write_text(json.dumps({"tests": tests}), encoding="utf-8")
    return skill


def case(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 -- JSON
    """Return a case that stands alone and answers at once."""
    return {"case": "one", "input": "What do I owe?", "turns": [{"text": "You owe 12.50."}], **fields}


def one(skill: Path, **fields: Any) -> CaseResult:  # noqa: ANN401 -- JSON
    """Run one case of a skill."""
    report = run_tests(with_cases(skill, case(**fields)))
    assert report.diagnostics == ()
    return report.cases[0]


def judged(folder: Path, kind: str, value: str, **fields: Any) -> tuple[str, str]:  # noqa: ANN401 -- JSON
    """Return outcome and evidence, or reason, of a case with one assertion."""
    result = one(make_skill(folder), assertions=[{"type": kind, "value": value}], **fields)
    return result.outcome, result.assertions[0].evidence if result.assertions else result.reason or ""


def outcomes(report: TestReport) -> list[tuple[str, str]]:
    """Return name and outcome of each case."""
    return [(result.case, result.outcome) for result in report.cases]
