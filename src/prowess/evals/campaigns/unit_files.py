"""The files of one run: outputs, `timing.json`, `grading.json`, and the metadata of its eval.

`grading.json` has the assertions twice: as `assertion_results` for the guide, and as `expectations` for the viewer of
skill-creator.
"""

from __future__ import annotations

import os
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from prowess._internal.files.contained import ContainedRoot
from prowess.errors import InvalidArgumentsError, UnsafePathError
from prowess.evals.iterations.folders import write_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.evals.campaigns.planning import PlannedEval
    from prowess.evals.campaigns.report import GradedAssertion, UngradedAssertion
    from prowess.evals.graders.material import RunMaterial

ANSWER = "answer.md"
_MAX_OUTPUT_BYTES = 64 * 1024 * 1024  # of one run


def write_metadata(folder: str, plan: PlannedEval) -> None:
    """Write `eval_metadata.json` for the viewer."""
    value = {
        "eval_id": plan.number,
        "eval_name": plan.id,
        "prompt": plan.prompt,
        "assertions": [assertion.text for assertion in plan.assertions],
    }
    write_json(os.path.join(folder, "eval_metadata.json"), value)


def write_timing(folder: str, *, tokens: int, seconds: float) -> None:
    """Write `timing.json`."""
    value = {"total_tokens": tokens, "duration_ms": round(seconds * 1000), "total_duration_seconds": round(seconds, 3)}
    write_json(os.path.join(folder, "timing.json"), value)


def write_grading(
    folder: str,
    results: Sequence[GradedAssertion],
    ungraded: Sequence[UngradedAssertion] = (),
    *,
    error: str | None = None,
) -> None:
    """Write `grading.json`. A run with `error` has no results, and no rate."""
    rows = [{"text": row.text, "passed": row.passed, "evidence": row.evidence, "type": row.type} for row in results]
    passed = sum(row.passed for row in results)
    summary = {
        "passed": passed,
        "failed": len(rows) - passed,
        "total": len(rows),
        "pass_rate": round(passed / len(rows), 4) if rows else None,
    }
    value: dict[str, object] = {"assertion_results": rows, "expectations": rows, "summary": summary}
    if ungraded:
        value["ungraded"] = [{"text": row.text, "reason": row.reason} for row in ungraded]
    if error is not None:
        value["error"] = error
    write_json(os.path.join(folder, "grading.json"), value)


def write_outputs(folder: str, run: RunMaterial) -> None:
    """Copy the files that the run created or changed into `outputs/`, and write the answer beside them."""
    outputs = os.path.join(folder, "outputs")
    left = _MAX_OUTPUT_BYTES
    with ContainedRoot(run.workspace) as root:
        for path in (*run.created, *run.modified):
            try:
                with root.open(path, allow_hard_links=True) as file:
                    data = file.read(left + 1)
            except (OSError, UnsafePathError):
                continue
            left -= len(data)
            if left < 0:
                break
            target = os.path.join(outputs, *path.split("/"))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as copy:
                copy.write(data)
    answer = os.path.join(outputs, ANSWER)
    if not os.path.lexists(answer):
        with open(answer, "w", encoding="utf-8", errors="replace") as file:
            file.write(run.answer)


def prepare_workspace(workspace: str, root: str, files: Iterable[tuple[str, str]]) -> None:
    """Copy the files of an eval into the empty directory `workspace`.

    Raises:
        InvalidArgumentsError: a file cannot be copied.
    """
    try:
        with ContainedRoot(root) as opened:
            for source, name in files:
                target = os.path.join(workspace, *name.split("/"))
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with opened.open(source, allow_hard_links=True) as file, open(target, "xb") as copy:
                    copy.write(file.read())
                    if file.stat.st_mode & 0o100:
                        os.chmod(target, 0o700)
    except (OSError, UnsafePathError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else fault.reason
        raise InvalidArgumentsError((f"the files of the eval cannot be copied: {reason}",)) from None


def new_workspace() -> str:
    """Create an empty directory for one run.

    It is not below the iteration: an agent that looks around there would find the skill, the evals and other runs.
    """
    return os.path.realpath(mkdtemp(prefix="prowess-workspace-"))
