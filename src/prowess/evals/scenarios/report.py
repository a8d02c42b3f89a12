"""Results of tested cases, and the report that `prowess test` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, to_builtins

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.agent import AgentResult
    from prowess.diagnostics import Diagnostic

CaseOutcome = Literal["passed", "failed", "error", "skipped"]
OUTCOMES: tuple[CaseOutcome, ...] = ("passed", "failed", "error", "skipped")


class Grade(Struct, frozen=True, kw_only=True):
    """Whether an assertion holds, and the evidence for it, one line."""

    passed: bool
    evidence: str


class AssertionResult(Struct, frozen=True, kw_only=True):
    """One assertion or expectation with its grade."""

    type: str
    value: Any
    passed: bool
    evidence: str


class CaseResult(Struct, frozen=True, kw_only=True):
    """The outcome of one case. `reason` is None if it passed; `scenario` is None if the case is not in the manifest.

    An `error` is no statement about the skill: the case itself, a grader or this machine is at fault. `unavailable` is
    true if the machine is: there is no sandbox, for example.
    """

    skill: str
    scenario: str | None
    case: str
    outcome: CaseOutcome
    reason: str | None = None
    assertions: tuple[AssertionResult, ...] = ()
    duration_ms: int = 0
    unavailable: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        data: dict[str, Any] = to_builtins(self)
        del data["unavailable"]
        return data


class GradedRun(Struct, frozen=True, kw_only=True):
    """A finished run, as graders see it.

    `workspace` is the directory after the run, and `commands` are the argument vectors of the commands and scripts that
    ran. `created` and `modified` are relative paths.
    """

    result: AgentResult
    workspace: str
    created: tuple[str, ...]
    modified: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]

    @property
    def answer(self) -> str:
        """The last text of the model."""
        return self.result.text


class TestReport(Struct, frozen=True, kw_only=True):
    """The results of all cases, in order, and the faults of the files that describe them."""

    __test__ = False  # stops pytest from collecting this class

    cases: tuple[CaseResult, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def counts(self) -> Mapping[CaseOutcome, int]:
        """The number of cases with each outcome."""
        return {outcome: sum(case.outcome == outcome for case in self.cases) for outcome in OUTCOMES}

    @property
    def passed(self) -> bool:
        """Whether a case passed, no other one failed, and the files have no faults."""
        counts = self.counts
        return counts["passed"] > 0 and not (counts["failed"] or counts["error"] or self.diagnostics)

    def as_dict(self) -> dict[str, Any]:
        """Return summary and cases as JSON data."""
        counts = self.counts
        summary = {
            "cases": len(self.cases),
            "passed": counts["passed"],
            "failed": counts["failed"],
            "errors": counts["error"],
            "skipped": counts["skipped"],
        }
        return {"summary": summary, "cases": [case.as_dict() for case in self.cases]}
