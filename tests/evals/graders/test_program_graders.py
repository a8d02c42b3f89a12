from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess.evals.graders.programs import grade_by_program
from prowess.evals.scenarios.assertions import AssertionUndecidedError
from prowess.format.suites.grader_specs import ProgramGrader
from tests.evals.graders.runs import material

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.evals.scenarios.report import Grade

CHECK = """\
import json, os, sys
run = json.load(sys.stdin)
try:
    open("sum.txt", "w").write("0")
    print("wrote into the workspace")
    sys.exit(3)
except OSError:
    pass
wanted = sys.argv[1]
print(f"sum.txt has {open('sum.txt').read()}, the answer is {run['answer']}")
sys.exit(0 if open("sum.txt").read() == wanted and run["created"] == ["sum.txt"] else 1)
"""


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    root = tmp_path / "sort"
    (root / "evals").mkdir(parents=True)
    (root / "SKILL.md").write_text("---\nname: sort\ndescription: Sorts.\n---\n")
    (root / "evals" / "check.py").write_text(CHECK)
    return root


def graded(skill: Path, path: str, *args: str, seconds: float = 30.0) -> Grade:
    workspace = skill.parent / "workspace"
    workspace.mkdir(exist_ok=True)
    (workspace / "sum.txt").write_text("12.50")
    run = material(workspace, "done", root=str(skill))
    return anyio.run(partial(grade_by_program, ProgramGrader(path=path, args=args, seconds=seconds), run))


def test_a_program_of_the_skill_reads_the_run_and_cannot_change_the_workspace(skill: Path) -> None:
    good, bad = graded(skill, "evals/check.py", "12.50"), graded(skill, "evals/check.py", "13")

    assert (good.passed, bad.passed) == (True, False)
    assert good.evidence == "evals/check.py exited with 0: sum.txt has 12.50, the answer is done"


@pytest.mark.parametrize("path", ["evals/missing.py", "/bin/true", "true", "../check.py"])
def test_nothing_but_a_file_of_the_skill_is_run(path: str, skill: Path) -> None:
    with pytest.raises(AssertionUndecidedError, match="no file"):
        graded(skill, path)


def test_a_program_that_does_not_end_is_no_verdict(skill: Path) -> None:
    (skill / "evals" / "check.py").write_text("import time\ntime.sleep(60)\n")
    with pytest.raises(AssertionUndecidedError, match=r"longer than 0\.5 seconds"):
        graded(skill, "evals/check.py", seconds=0.5)
