"""Programs of a skill that grade a run, in the sandbox, under the rules for scripts of skills.

A suite is foreign data: its programs get no network, no home and a copy of the workspace that they cannot write. The
policy of this machine decides which directories of a skill may have programs, as for all scripts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from anyio import to_thread

from prowess._internal.files.tree_digest import read_tree
from prowess._internal.text.terminal_text import printable_line
from prowess.errors import SkillError
from prowess.evals.scenarios.assertions import AssertionUndecidedError
from prowess.evals.scenarios.report import Grade
from prowess.execution import default_sandbox
from prowess.policy.policy_in_force import PolicyInForce
from prowess.runtime.scripts import SkillPrograms, file_of

if TYPE_CHECKING:
    from prowess.evals.graders.material import RunMaterial
    from prowess.format.suites.grader_specs import ProgramGrader

LONGEST_SECONDS = 600.0


async def grade_by_program(grader: ProgramGrader, run: RunMaterial) -> Grade:
    """Run the program; it passes with status 0. The last line that it prints is the evidence.

    Raises:
        AssertionUndecidedError: the skill has no such file, or the program was not run, or not to its end.
    """
    manifest = await to_thread.run_sync(read_tree, run.root)
    path = file_of(manifest, grader.path)
    if path is None:
        raise AssertionUndecidedError(f"the skill has no file {grader.path!r} to grade with")
    programs = SkillPrograms(
        session_id="", sandbox=default_sandbox(), policy=PolicyInForce(), workspace=run.workspace, write=False
    )
    seconds = min(grader.seconds, LONGEST_SECONDS)
    try:
        ran = await programs.run(run.root, manifest, (path, *grader.args), stdin=_input(run), seconds=seconds)
    except (SkillError, OSError) as fault:
        raise AssertionUndecidedError(f"program {path!r} was not run: {fault}") from None
    if ran.timed_out:
        raise AssertionUndecidedError(f"program {path!r} took longer than {seconds:g} seconds")
    said = (ran.stdout or ran.stderr).decode("utf-8", "replace").strip().splitlines()
    last = f": {printable_line(said[-1][:300])}" if said else ""
    return Grade(passed=ran.exit_code == 0, evidence=f"{path} exited with {ran.exit_code}{last}")


def _input(run: RunMaterial) -> bytes:
    calls = [{"name": call.name, "arguments": dict(call.arguments)} for call in run.transcript.calls]
    value = {
        "prompt": run.prompt,
        "answer": run.answer,
        "created": run.created,
        "modified": run.modified,
        "deleted": run.deleted,
        "activated": run.activated,
        "calls": calls,
    }
    return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "replace")
