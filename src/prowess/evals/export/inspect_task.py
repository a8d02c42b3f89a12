"""Evals as a task of Inspect (inspect_ai): a dataset, the skill, and a program that reads both.

The program is the same for every skill: texts of evals are only in the dataset.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from prowess.evals.export.exported_skill import expected_skill, file_of, lost_graders, skill_files
from prowess.format.suites.forms import LostMember
from prowess.format.writing import document_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prowess.evals.campaigns.planning import PlannedEval
    from prowess.evals.export.exported_skill import ExportedSkill
    from prowess.format.suites.suite import SuiteCase

_FIELDS: Mapping[str, type] = {"license": str, "compatibility": str, "metadata": dict, "allowed-tools": str}
_SHORT, _MOST = "compatibility", 500  # characters


def inspect_files(skill: ExportedSkill) -> dict[str, bytes]:
    """Return `task.py`, `dataset.jsonl`, `skills/NAME/` and the files of the evals.

    Raises:
        InvalidArgumentsError: the files cannot be read.
    """
    program = files("prowess.evals.export").joinpath("inspect_program.py.txt").read_bytes()
    copy = f"skills/{skill.name}"
    found = {"task.py": program, **skill_files(skill.root, copy), f"{copy}/SKILL.md": _document(skill)}
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


def lost_to_inspect(skill: ExportedSkill) -> Iterator[LostMember]:
    """Yield the members of the evals, and the fields of SKILL.md, that the task does not have."""
    yield from lost_graders(skill, "inspect")
    for name, value in skill.skill.document.mapping().items():
        if name not in ("name", "description") and not _is_allowed(name, value):
            reason = "Inspect refuses a skill with fields that the specification does not have"
            yield LostMember(eval=None, member=f"{name} of SKILL.md", reason=reason)


def _document(skill: ExportedSkill) -> bytes:
    """Return SKILL.md with the fields that the specification allows: Inspect refuses a skill that has other fields."""
    given = skill.skill.document.mapping().items()
    fields: dict[str, object] = {name: value for name, value in given if _is_allowed(name, value)}
    fields = {"name": skill.name, "description": skill.skill.description, **fields}
    return document_text(fields, skill.skill.body).encode()


def _is_allowed(name: str, value: object) -> bool:
    fits = isinstance(value, _FIELDS.get(name, ())) and bool(value)
    return fits and (name != _SHORT or len(str(value)) <= _MOST)


def _sample(skill: str, plan: PlannedEval, case: SuiteCase, placed: dict[str, str]) -> dict[str, Any]:
    judged = [check.text for check in case.checks if check.kind == "judged" or check.value is None]
    if case.expected_output:
        judged.insert(0, case.expected_output)
    checks = [
        {"kind": check.kind, "value": check.value}
        for check in case.checks
        if check.kind != "judged" and check.value is not None
    ]
    about = {"checks": checks, "expected_skill": expected_skill(case, skill)}
    sample: dict[str, Any] = {"id": plan.id, "input": plan.prompt, "target": "\n".join(judged), "metadata": about}
    return {**sample, "files": placed} if placed else sample
