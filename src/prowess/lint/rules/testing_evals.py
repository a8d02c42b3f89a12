"""The rule `testing.evals`."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from prowess.format.suites.folder_faults import plugin_faults, waza_faults
from prowess.format.suites.json_faults import json_faults, trigger_faults
from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.format.suites.suite import SuiteFault
    from prowess.lint.skill_files import SkillFiles

_PATH = "evals/evals.json"
_MAX_SETS = 10
_MAX_FILES = 200  # files of one folder of evals that are read


class TestingEvals(LintRule):
    """A file of evaluations that a runner cannot read.

    What it does:
        Checks `evals/evals.json`, if it exists. The file is an object with `skill_name`, the name of the skill, and
        `evals`, a list. Each eval has a unique `id` (a number or a text), a `prompt` and an `expected_output`. An eval
        may have `files`, which must exist in the skill, and `assertions` or `expectations`. These are lists of texts,
        or `assertions` of objects with a `text` and a `type`. The file may also be a list of evals without the object,
        or an object with `skill` and `cases`. Then an eval may have a `question` instead of a prompt, and give the
        right answer as `ground_truth`, `expected_behavior` (a list of texts), `expected_output`, `expected_skill` or
        `should_trigger`. In the same way it checks `evals/eval.yaml` with its tasks (Waza), and folders of cases
        (`claude plugin eval`), whose tools refuse unknown keys. A list of objects with `query` in any
        other JSON file of `evals/` is a trigger set: each of them has `should_trigger`, true or false. A key is
        only once in its object, and a grader of a type that `prowess eval run` has can decide something: its pattern
        is one of Python, its program exists, and its members are known. A type is not nearly one of these, as
        `contains_phrse` is. Types of other tools are left alone.

    Why it matters:
        A runner skips an eval that it cannot read, or counts it as failed. In both cases the result contains no
        information about the skill.

    Example:
        `{"evals": [{"id": 1, "prompt": "Sort it.", "assertions": [{"about": "It is sorted."}]}]}`

    Instead:
        `{"skill_name": "sort", "evals": [{"id": 1, "prompt": "Sort it.", "expected_output": "Sorted rows."}]}`
    """

    __test__ = False  # stops pytest from collecting this class

    meta = RuleMeta(
        id="testing.evals",
        order=62,
        most=20,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="Files of evals have one of the known forms.",
        source="Agent Skills guide on evaluating skills",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each fault, at its place in the file."""
        entries = subject.files.entries("evals")
        if not entries:
            return
        if "evals.json" in entries and (text := subject.files.text(_PATH)) is not None:
            name = subject.document.text_of("name") or None
            faults = json_faults(text, file=_PATH, skill=name, file_at=lambda path: _file(path, subject.files))
            for fault in faults:
                yield self._found(subject, fault, _PATH, text.removeprefix("\ufeff"))
        for fault in _trigger_faults(subject.files):
            yield self._found(subject, fault, fault.file, (subject.files.text(fault.file) or "").removeprefix("\ufeff"))
        for fault in _folder_faults(subject.files):
            path = f"evals/{fault.file}"
            yield self._found(subject, fault, path, subject.files.text(path) or "")

    def _found(self, subject: LintSubject, fault: SuiteFault, path: str, text: str) -> Diagnostic:
        return self.meta.found(fault.message, subject.file_place(path, fault.offset, text))


def _file(path: str, files: SkillFiles) -> str | None:
    return None if files.look_for(path).kind == "missing" else path


def _trigger_faults(files: SkillFiles) -> Iterator[SuiteFault]:
    """Yield the faults of trigger sets: other JSON files in the folder, if they are lists of queries."""
    names = [name for name in files.entries("evals") if name.endswith(".json") and name != "evals.json"]
    for name in names[:_MAX_SETS]:
        if (text := files.text(f"evals/{name}")) is not None and '"query"' in text:
            yield from trigger_faults(text, file=f"evals/{name}")


def _folder_faults(files: SkillFiles) -> Iterator[SuiteFault]:
    """Yield the faults of a folder of evals in the form of Waza or of `claude plugin eval`."""
    entries = files.entries("evals")
    tasks = files.entries("evals/tasks") if "eval.yaml" in entries else {}
    folders = [name for name, kind in entries.items() if kind == "directory"]
    cases = [name for name in folders[:_MAX_FILES] if {"prompt.md", "case.yaml"} & {*files.entries(f"evals/{name}")}]
    if "eval.yaml" not in entries and not cases:
        return
    if "eval.yaml" in entries:
        paths = ["eval.yaml", *(f"tasks/{name}" for name in sorted(tasks) if name.endswith((".yaml", ".yml")))]
        texts = _texts(files, paths)
        yield from waza_faults(texts) if "eval.yaml" in texts else ()
    else:
        yield from plugin_faults(_texts(files, [path for name in sorted(cases) for path in _of_case(files, name)]))


def _of_case(files: SkillFiles, name: str) -> Iterator[str]:
    for entry, kind in files.entries(f"evals/{name}").items():
        if entry == "graders" and kind == "directory":
            yield from (f"{name}/graders/{grader}" for grader in files.entries(f"evals/{name}/graders"))
        elif kind == "file":
            yield f"{name}/{entry}"


def _texts(files: SkillFiles, paths: list[str]) -> dict[str, str]:
    found = {path: files.text(f"evals/{path}") for path in islice(paths, _MAX_FILES)}
    return {path: text for path, text in found.items() if text is not None}
