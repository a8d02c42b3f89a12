"""Evals as a task of Inspect (inspect_ai): a dataset, the skill, and a program that reads both.

The program is the same for every skill: texts of evals are only in the dataset.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from msgspec import UnsetType

from prowess.evals.export.exported_skill import file_of, skill_files

if TYPE_CHECKING:
    from prowess.evals.campaigns.planning import PlannedEval
    from prowess.evals.export.exported_skill import ExportedSkill
    from prowess.format.suites.suite import SuiteCase


def inspect_files(skill: ExportedSkill) -> dict[str, bytes]:
    """Return `task.py`, `dataset.jsonl`, `skills/NAME/` and the files of the evals.

    Raises:
        InvalidArgumentsError: the files cannot be read.
    """
    program = files("prowess.evals.export").joinpath("inspect_program.py.txt").read_bytes()
    found = {"task.py": program, **skill_files(skill.root, f"skills/{skill.name}")}
    rows = []
    for number, (plan, case) in enumerate(zip(skill.plans, skill.cases, strict=True), 1):
        placed = {}
        for place, (source, target) in enumerate(plan.files, 1):
            path = f"files/{number}/{place}"  # a name of ours: Inspect resolves it
            found[path] = file_of(skill, source)
            placed[target] = path
        rows.append(json.dumps(_sample(skill.name, plan, case, placed)))
    found["dataset.jsonl"] = "".join(f"{row}\n" for row in rows).encode()
    return found


def _sample(skill: str, plan: PlannedEval, case: SuiteCase, placed: dict[str, str]) -> dict[str, Any]:
    judged = [check.text for check in case.checks if check.kind == "judged" or check.value is None]
    if case.expected_output:
        judged.insert(0, case.expected_output)
    checks = [
        {"kind": check.kind, "value": check.value}
        for check in case.checks
        if check.kind != "judged" and check.value is not None
    ]
    wanted = skill if isinstance(case.expected_skill, UnsetType) else case.expected_skill
    expected = None if case.should_trigger is False else wanted
    about = {"checks": checks, "expected_skill": expected}
    sample: dict[str, Any] = {"id": plan.id, "input": plan.prompt, "target": "\n".join(judged), "metadata": about}
    return {**sample, "files": placed} if placed else sample
