"""The evals of a skill with the files that they need, and a new folder of files for another tool."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from msgspec import Struct, UnsetType

from prowess._internal.files.contained import ContainedRoot
from prowess.errors import InvalidArgumentsError, UnsafePathError
from prowess.evals.campaigns.planning import plan_evals
from prowess.evals.iterations.folders import as_folder_name
from prowess.format.reading import read_skill
from prowess.format.suites.files import read_suite
from prowess.format.suites.forms import LostMember, original

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prowess.evals.campaigns.planning import PlannedEval
    from prowess.format.skill import Skill
    from prowess.format.suites.suite import SuiteCase

_SHOWN = 60
_MORE = {"weight", "arm"}  # of a pattern on the answer, which other tools check as well
MAX_FILES = 2_000
MAX_BYTES = 64 * 1024 * 1024  # of all files
_NOT_COPIED = ("evals", ".git")  # an agent that finds the evals knows the answers


class ExportedSkill(Struct, frozen=True, kw_only=True):
    """One skill with its evals. `plans` and `cases` are the same evals, in the same order."""

    skill: Skill
    root: str
    plans: tuple[PlannedEval, ...]
    cases: tuple[SuiteCase, ...]

    @property
    def name(self) -> str:
        """The name of the skill."""
        return self.skill.name


def expected_skill(case: SuiteCase, skill: str) -> str | None:
    """Return which skill an eval of `skill` expects to be chosen, None if none should be."""
    if case.should_trigger is False:
        return None
    return skill if isinstance(case.expected_skill, UnsetType) else case.expected_skill


def lost_graders(skill: ExportedSkill, tool: str) -> Iterator[LostMember]:
    """Yield the graders that `tool` does not have; a model judges the text of an assertion instead, or nobody."""
    for plan, case in zip(skill.plans, skill.cases, strict=True):
        for number, check in enumerate(case.checks):
            if check.grader is not None and (check.kind == "judged" or _MORE & check.grader.keys()):
                kind = str(check.grader.get("type"))[:_SHOWN]
                instead = "only its pattern" if check.kind != "judged" else "a model judges its text instead"
                yield LostMember(
                    eval=plan.id, member=f"assertions[{number}]", reason=f"{tool} has no grader {kind}; {instead}"
                )
        for grader in case.graders:
            member = str(grader.get("name") or grader.get("type"))[:_SHOWN]
            yield LostMember(eval=plan.id, member=f"graders.{member}", reason=f"{tool} has no such grader; left out")


def exported_skill(path: str) -> ExportedSkill:
    """Return the evals at a path: a skill, or a file or folder of evals in one.

    Raises:
        SuiteError: there is no suite, or it cannot be read.
        InvalidArgumentsError: the path is not in a skill, the evals cannot be planned with their files, or the name of
            the skill cannot be that of a folder.
        SkillParseError: the skill cannot be read.
    """
    plan = plan_evals(path)
    cases = original(read_suite(path)).suite().cases
    for one, case in zip(plan.evals, cases, strict=True):
        if one.fault is not None and case.files and not one.files:
            raise InvalidArgumentsError((f"eval {one.id} cannot be exported with its files: {one.fault}",))
    skill = read_skill(plan.root)
    as_folder_name(skill.name)
    return ExportedSkill(skill=skill, root=plan.root, plans=plan.evals, cases=cases)


def skill_files(root: str, prefix: str) -> dict[str, bytes]:
    """Return the files of a skill without its evals, by paths that begin with `prefix`.

    Raises:
        InvalidArgumentsError: they cannot be read, or are too large.
    """
    found: dict[str, bytes] = {}
    left = MAX_BYTES
    try:
        with ContainedRoot(root) as opened:
            for path in _walk(opened):
                with opened.open(path, allow_hard_links=True) as file:
                    data = file.read(left + 1)
                left -= len(data)
                if left < 0 or len(found) >= MAX_FILES:
                    problem = f"{root} has more than {MAX_FILES} files or {MAX_BYTES} bytes"
                    raise InvalidArgumentsError((problem,))
                found[f"{prefix}/{path}"] = data
    except (OSError, UnsafePathError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else fault.reason
        raise InvalidArgumentsError((f"{root} cannot be read: {reason}",)) from None
    return found


def _walk(root: ContainedRoot) -> Iterator[str]:
    waiting = [""]
    while waiting:
        here = waiting.pop()
        for name, kind in sorted(root.entries(here or ".")):
            path = f"{here}/{name}" if here else name
            if kind == "directory" and path not in _NOT_COPIED and name != ".git":
                waiting.append(path)
            elif kind == "file":
                yield path


def file_of(skill: ExportedSkill, path: str) -> bytes:
    """Return a file that an eval names; `plan_evals` has looked at it.

    Raises:
        InvalidArgumentsError: it cannot be read any more, or is too large.
    """
    try:
        with ContainedRoot(skill.root) as root, root.open(path, allow_hard_links=True) as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, UnsafePathError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else fault.reason
        raise InvalidArgumentsError((f"{path} of the skill cannot be read: {reason}",)) from None
    if len(data) > MAX_BYTES:
        raise InvalidArgumentsError((f"{path} of the skill has more than {MAX_BYTES} bytes",))
    return data


def write_files(files: Mapping[str, bytes], out: str) -> None:
    """Write files below a new folder. The paths are ours, or were checked by `ContainedRoot`.

    Raises:
        InvalidArgumentsError: the folder exists, or the disk refuses.
    """
    if os.path.lexists(out):
        raise InvalidArgumentsError((f"{out} exists; name a new folder",))
    try:
        for path, data in files.items():
            target = os.path.join(out, *path.split("/"))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "xb") as file:
                file.write(data)
    except (OSError, UnicodeEncodeError) as fault:
        shutil.rmtree(out, ignore_errors=True)  # a folder of ours, with half of the files
        reason = fault.strerror if isinstance(fault, OSError) else "a path has half of a surrogate pair"
        raise InvalidArgumentsError((f"{out} cannot be written: {reason}",)) from None
