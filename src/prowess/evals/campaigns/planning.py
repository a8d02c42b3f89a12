"""The evals of a skill as they are run: one directory name, one prompt and the graders of each.

An eval that cannot be run carries its fault; the others are not affected.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.contained import ContainedRoot, check_relative
from prowess.errors import InvalidArgumentsError, UnsafePathError
from prowess.format.suites.fields import TYPED, has_half_character
from prowess.format.suites.files import read_suite
from prowess.format.suites.forms import original
from prowess.format.suites.grader_faults import case_faults
from prowess.format.suites.grader_specs import AnyGrader, JudgedGrader, parse_grader
from prowess.format.suites.json_faults import unread_list
from prowess.format.suites.suite import SuiteError, names_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prowess.format.suites.forms import FormedData
    from prowess.format.suites.suite import Check, CheckKind, EvalSuite, SuiteCase

NO_JUDGE = "it needs a judge; name one with --judge MODEL"
_PLACES = ("evals/files/", "evals/")  # prefixes that the workspace does not repeat

# Files in a workspace from which Claude Code, Codex, Copilot, Cursor, Gemini CLI, OpenCode and git take settings.
_AGENT_FOLDERS = frozenset(
    {".agents", ".claude", ".codex", ".copilot", ".cursor", ".gemini", ".git", ".opencode", ".vscode"}
)
_OF_COPILOT = frozenset(  # in `.github`, which has also workflows and templates
    {"agents", "copilot", "copilot-instructions.md", "extensions", "hooks", "instructions", "prompts", "skills"}
)
_AGENT_FILES = frozenset(
    {
        *(".mcp.json", ".cursorrules", ".env", ".git", "opencode.json", "opencode.jsonc"),
        *("agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md"),
    }
)


class TextCheck(Struct, frozen=True, kw_only=True):
    """A phrase or pattern that the answer contains or matches, or does not."""

    kind: CheckKind
    value: str


class JudgedCheck(Struct, frozen=True, kw_only=True):
    """An assertion for a judge. It decides on `text`."""

    text: str


class UngradedCheck(Struct, frozen=True, kw_only=True):
    """An assertion that cannot be graded here, with the reason."""

    reason: str


class PlannedAssertion(Struct, frozen=True, kw_only=True):
    """One assertion. `in_baseline` is false if it counts with the skill only."""

    text: str
    check: TextCheck | AnyGrader | JudgedCheck | UngradedCheck
    in_baseline: bool = True

    @property
    def is_judged(self) -> bool:
        """Whether it needs a judge."""
        return isinstance(self.check, JudgedCheck)

    def ungraded(self, *, judged: bool) -> str | None:
        """Return why it cannot be graded, or None. `judged` is whether there is a judge."""
        if isinstance(self.check, UngradedCheck):
            return self.check.reason
        return NO_JUDGE if self.is_judged and not judged else None


class PlannedEval(Struct, frozen=True, kw_only=True):
    """One eval. `directory` is its name in an iteration. `fault` is one sentence if it cannot be run.

    `files` are pairs: the path in the skill, and the path in the workspace.
    """

    id: str
    number: int
    directory: str
    prompt: str
    expected_output: str | None
    files: tuple[tuple[str, str], ...]
    assertions: tuple[PlannedAssertion, ...]
    fault: str | None = None

    @property
    def is_judged(self) -> bool:
        """Whether a judge has something to do."""
        return any(assertion.is_judged for assertion in self.assertions)


class SuitePlan(Struct, frozen=True, kw_only=True):
    """The skill's directory, and its evals in order."""

    root: str
    evals: tuple[PlannedEval, ...]


def plan_evals(path: str) -> SuitePlan:
    """Return the evals of a skill, of a file or a folder of evals in a skill.

    Raises:
        SuiteError: there is no suite, or it cannot be read.
        InvalidArgumentsError: it is not inside of a skill, has no eval, two of one id, or a file outside of the skill.
    """
    root = _skill_of(path)
    formed = original(read_suite(path))
    suite = formed.suite()
    if not suite.cases:
        raise InvalidArgumentsError((f"{path} has no eval; add one to evals/evals.json",))
    _require_distinct(suite, path)
    with ContainedRoot(root) as opened:
        planned = tuple(_planned(opened, suite.cases, path))
    return SuitePlan(root=root, evals=_with_unread(planned, formed))


def _with_unread(evals: tuple[PlannedEval, ...], formed: FormedData) -> tuple[PlannedEval, ...]:
    """Return the evals, with a fault where a list of files or assertions was left out because it is of a wrong type."""
    if formed.form.layout == "folder":
        return evals
    entries = formed.form.split(formed.data).cases
    unread = [unread_list(entry) for entry in entries]
    return tuple(one if fault is None else replace(one, fault=fault) for one, fault in zip(evals, unread, strict=True))


def _skill_of(path: str) -> str:
    if not path:
        raise InvalidArgumentsError(("the path is empty; name a skill, or its file of evals",))
    if not os.path.exists(path):
        raise InvalidArgumentsError((f"{path} does not exist; name a skill, or its file of evals",))
    here = os.path.realpath(path)
    while not os.path.isfile(os.path.join(here, "SKILL.md")):
        above = os.path.dirname(here)
        if above == here:
            raise InvalidArgumentsError((f"{path} is no skill, and is not inside of one; name a folder with SKILL.md",))
        here = above
    return here


def _require_distinct(suite: EvalSuite, path: str) -> None:
    seen: set[str] = set()
    for number, case in enumerate(suite.cases, 1):
        ident = str(number if case.id is None else case.id)
        if ident in seen:
            raise InvalidArgumentsError((f"{path}: two evals have the id {ident!r}; give each its own",))
        seen.add(ident)


def _planned(root: ContainedRoot, cases: Sequence[SuiteCase], path: str) -> Iterator[PlannedEval]:
    names = [name if name.startswith("eval-") else f"eval-{name}" for name in names_of(cases)]
    taken: set[str] = set()
    for number, (case, name) in enumerate(zip(cases, names, strict=True), 1):
        directory, again = name, 1
        while directory in taken:
            again += 1
            directory = f"{name}-{again}"
        taken.add(directory)
        files, fault = _files(root, case.files, path)
        assertions = tuple(_assertions(case))
        if fault is None:
            fault = next(_grader_faults(case, root), None)
        if not (case.prompt or "").strip():
            fault = "the eval has no prompt"
        elif has_half_character(case.prompt or ""):
            fault = "the prompt has half of a surrogate pair; write the whole character"
        elif not assertions and fault is None:
            fault = "the eval has neither assertions nor an expected output, so nothing can be graded"
        yield PlannedEval(
            id=str(number if case.id is None else case.id),
            number=case.id if isinstance(case.id, int) else number,
            directory=directory,
            prompt=case.prompt or "",
            expected_output=case.expected_output,
            files=files,
            assertions=assertions,
            fault=fault,
        )


def _files(root: ContainedRoot, paths: Sequence[str], shown: str) -> tuple[tuple[tuple[str, str], ...], str | None]:
    pairs: dict[str, str] = {}
    for path in paths:
        try:
            clean = "/".join(check_relative(path))
            root.open(clean, allow_hard_links=True).close()
        except UnsafePathError as fault:
            raise InvalidArgumentsError((f"{shown}: the file {path!r} leaves the skill: {fault.reason}",)) from None
        except OSError as fault:
            return (), f"the file {path!r} cannot be read: {fault.strerror}"
        prefix = next((one for one in _PLACES if clean.startswith(one)), "")
        target = clean.removeprefix(prefix)
        if _configures_agent(target):
            return (), f"the file {path!r} would configure the agent; give it another name"
        if pairs.setdefault(target, clean) != clean:
            return (), f"two files would be {target!r} in the workspace"
    return tuple((source, target) for target, source in pairs.items()), None


def _configures_agent(target: str) -> bool:
    """Whether a host would take its settings, hooks, servers or instructions from the file. Case is not told apart."""
    *folders, name = target.casefold().split("/")
    of_copilot = any(one == ".github" and after in _OF_COPILOT for one, after in pairwise((*folders, name)))
    return name in _AGENT_FILES or not _AGENT_FOLDERS.isdisjoint(folders) or of_copilot


def _grader_faults(case: SuiteCase, root: ContainedRoot) -> Iterator[str]:
    for text, fault in case_faults(case, lambda path: _file_fault(path, root)):
        yield f"the assertion {text!r} cannot be graded: {fault}"


def _file_fault(path: str, root: ContainedRoot) -> str | None:
    try:
        root.open("/".join(check_relative(path)), allow_hard_links=True).close()
    except UnsafePathError as fault:
        return f"leaves the skill: {fault.reason}"
    except OSError as fault:
        return f"cannot be read: {fault.strerror}"
    return None


def _assertions(case: SuiteCase) -> Iterator[PlannedAssertion]:
    for check in case.checks:
        yield _assertion(check)
    for grader in case.graders:
        yield _of_grader(grader, str(grader.get("name") or grader.get("type")))
    if not case.checks and not case.graders and (case.expected_output or "").strip():
        text = f"The result is as expected: {case.expected_output}"
        yield PlannedAssertion(text=text, check=JudgedCheck(text=text))


def _assertion(check: Check) -> PlannedAssertion:
    if check.grader is not None:
        if (kind := str(check.grader.get("type"))) in TYPED:
            reason = f"an assertion of the type {kind} needs a text {TYPED[kind][1]!r}"
            return PlannedAssertion(text=check.text, check=UngradedCheck(reason=reason))
        return _of_grader(check.grader, check.text)
    if check.kind != "judged" and check.value is not None:
        return PlannedAssertion(text=check.text, check=TextCheck(kind=check.kind, value=check.value))
    return PlannedAssertion(text=check.text, check=JudgedCheck(text=check.text))


def _of_grader(data: Mapping[str, object], text: str) -> PlannedAssertion:
    try:
        grader = parse_grader(data)
    except SuiteError as fault:
        return PlannedAssertion(text=text, check=UngradedCheck(reason=str(fault)))
    in_baseline = grader.arm not in ("with", "with-only")
    if isinstance(grader, JudgedGrader):
        criteria = grader.criteria or grader.text or text
        return PlannedAssertion(text=text, check=JudgedCheck(text=criteria), in_baseline=in_baseline)
    return PlannedAssertion(text=grader.text or text, check=grader, in_baseline=in_baseline)
