"""Evals as typed values: the members that all forms of eval files share.

A form is read into an `EvalSuite` and written from one. Members that a form lacks are kept beside it (`forms`), so that
no conversion loses data. Sources: Agent Skills guide on evaluating skills; public suites of seven forms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import UNSET, Struct, UnsetType

from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CheckKind = Literal["judged", "contains", "not_contains", "matches", "not_matches"]


class Check(Struct, frozen=True, kw_only=True):
    """One assertion. `value` is the phrase or pattern of a kind that code can check; `judged` needs a judge.

    `name` is a short name, or None. `grader` is the assertion as it was written, if it names a grader that only evals
    with a model can run (`prowess.format.suites.grader_specs`); other forms take it as `judged`.
    """

    text: str
    kind: CheckKind = "judged"
    value: str | None = None
    name: str | None = None
    grader: Mapping[str, Any] | None = None


class SuiteCase(Struct, frozen=True, kw_only=True):
    """One eval.

    `id` is None if the eval has none. `expected_skill` is the skill that should be chosen, None if none should be, and
    `UNSET` if the eval does not tell. `should_trigger` is None if the eval does not tell. `files` are paths relative to
    the skill's directory. `graders` are further graders, as they were written; no other form has them.
    """

    id: str | int | None = None
    prompt: str | None = None
    expected_output: str | None = None
    checks: tuple[Check, ...] = ()
    files: tuple[str, ...] = ()
    expected_skill: str | UnsetType | None = UNSET
    should_trigger: bool | None = None
    graders: tuple[Mapping[str, Any], ...] = ()


class EvalSuite(Struct, frozen=True, kw_only=True):
    """The evals of one skill, in order. `skill` is None if the file does not name it."""

    skill: str | None = None
    cases: tuple[SuiteCase, ...] = ()


class SuiteFault(Struct, frozen=True, kw_only=True):
    """A fault of an eval file: the path of the file below the evals' directory, an offset in its text, a sentence."""

    file: str
    offset: int
    message: str


class RepeatedKey(Struct, frozen=True, kw_only=True):
    """A key that is written again in one object, and the offset of the second. Readers disagree about which counts."""

    key: str
    offset: int

    @property
    def message(self) -> str:
        """A sentence."""
        return f"the key {self.key[:60]!r} is written twice; keep one of them"


class SuiteError(SkillError, ValueError):
    """The file or folder cannot be read, or written, as a suite. `reason` is one sentence with the place."""

    code = "invalid_arguments"
    reason: str
    sentence = "{reason}"


class UnreadableTextError(SuiteError):
    """The text is not JSON, or not YAML as it is read here. `offset` is the place in the text."""

    offset: int


class SuiteFileError(SuiteError):
    """A file of a suite cannot be read. `file` is its path in the suite, and `offset` and `line` the place in it."""

    file: str
    offset: int
    line: int
    sentence = "{file}:{line}: {reason}"

    @property
    def fault(self) -> SuiteFault:
        """The same as a fault."""
        return SuiteFault(file=self.file, offset=self.offset, message=self.reason)


def names_of(cases: Iterable[SuiteCase]) -> list[str]:
    """Return one name of a file or folder for each eval: its id in lower case letters, digits and hyphens, unique."""
    found: dict[str, None] = {}
    for number, case in enumerate(cases, 1):
        folded = "".join(
            char if char.isascii() and char.isalnum() else "-" for char in str("" if case.id is None else case.id)
        )
        base = "-".join(filter(None, folded.lower().split("-")))[:60] or f"eval-{number}"
        name, again = base, 1
        while name in found:
            again += 1
            name = f"{base}-{again}"
        found[name] = None
    return list(found)
