"""Units of a campaign, their results, and the report of `prowess eval run`.

A unit is one run of one eval in one configuration. Its id stays the same when a campaign is resumed or replayed, or
when another machine runs it.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, to_builtins

from prowess.evals.ledger.caps import CapName, Spent

WITH_SKILL, WITHOUT_SKILL, OLD_SKILL = "with_skill", "without_skill", "old_skill"
UnitOutcome = Literal["passed", "failed", "error", "not_run"]
StopReason = CapName | Literal["signal"]
WeakKind = Literal["uninformative", "suspect"]


class Unit(Struct, frozen=True, kw_only=True):
    """One run. `eval` is the name of the eval's directory, `configuration` of the one in it; `run` counts from 1."""

    eval: str
    configuration: str
    run: int

    @property
    def id(self) -> str:
        """The stable id, `EVAL/CONFIG/run-N`."""
        return f"{self.eval}/{self.configuration}/run-{self.run}"


class GradedAssertion(Struct, frozen=True, kw_only=True):
    """One assertion with its grade. `type` is the kind of grader; `evidence` is never empty if it passed."""

    text: str
    type: str
    passed: bool
    evidence: str


class UnitResult(Struct, frozen=True, kw_only=True):
    """The result of one unit.

    - `reason` is a sentence for `error` and `not_run`, else None.
    - `assertions` are empty unless the outcome is `passed` or `failed`.
    - `tokens` and `usd` are those of the answering model; `usd` is None if its price is unknown.
    - `replayed_calls` were answered from a journal or a recording.
    - `activated` tells whether the agent used the skill; None if it is not known.
    - `contaminated` is the evidence that a baseline saw the skill. Such a unit is in no rate.
    - `directory` is relative to the iteration; it has `outputs/`, and the files that `transcript` names.
    """

    id: str
    eval: str
    configuration: str
    run: int
    outcome: UnitOutcome
    reason: str | None = None
    assertions: tuple[GradedAssertion, ...] = ()
    seconds: float = 0.0
    tokens: int = 0
    usd: float | None = None
    replayed_calls: int = 0
    activated: bool | None = None
    contaminated: str | None = None
    directory: str | None = None
    transcript: str | None = None

    @property
    def counted(self) -> bool:
        """Whether it is part of the rates."""
        return self.outcome in ("passed", "failed") and self.contaminated is None


class ConfigurationSummary(Struct, frozen=True, kw_only=True):
    """The counts of one configuration, and the rate of passed runs with its 95 % Wilson interval.

    Rate and interval are None if no run counts. `assertions_passed` is the mean share of passed assertions.
    """

    runs: int
    passed: int
    failed: int
    errors: int
    not_run: int
    contaminated: int
    rate: float | None
    low: float | None
    high: float | None
    assertions_passed: float | None


class RateDelta(Struct, frozen=True, kw_only=True):
    """The difference of rates (with the skill minus baseline), over evals with both, with its 95 % interval.

    There is no interval over a single eval.
    """

    mean: float
    low: float | None
    high: float | None


class WeakAssertion(Struct, frozen=True, kw_only=True):
    """An assertion that tells nothing about the skill: it passes in both configurations, or fails in both."""

    eval: str
    text: str
    kind: WeakKind


class UngradedAssertion(Struct, frozen=True, kw_only=True):
    """An assertion that was not graded, so that no outcome counts it, with the reason."""

    eval: str
    text: str
    reason: str


class GateResult(Struct, frozen=True, kw_only=True):
    """A gate that was named. `value` is None if nothing could be measured; then it failed."""

    name: str
    wanted: float
    value: float | None
    passed: bool

    @classmethod
    def of(cls, name: str, wanted: float, value: float | None) -> GateResult:
        """Return the result of a gate that wants at least this value."""
        return cls(name=name, wanted=wanted, value=value, passed=value is not None and value >= wanted)


class EvalRunSummary(Struct, frozen=True, kw_only=True):
    """The result of all units.

    `decision` is that of `--until decided`: better, worse, futile or open; None without it. `faults` are sentences
    about evals that could not run at all. `ungraded` are assertions of the evals that ran: outcomes and rates are about
    the others.
    """

    configurations: dict[str, ConfigurationSummary]
    delta: RateDelta | None = None
    decision: str | None = None
    weak: tuple[WeakAssertion, ...] = ()
    contaminated: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    gates: tuple[GateResult, ...] = ()
    faults: tuple[str, ...] = ()
    ungraded: tuple[UngradedAssertion, ...] = ()


class EvalRunReport(Struct, frozen=True, kw_only=True):
    """The report of a campaign, as `eval run --json` prints it. `iteration` is the path of its folder.

    `complete` is true if nothing but a decision kept units from running.
    """

    complete: bool
    stopped: StopReason | None
    skill: str
    model: str | None
    host: str
    seed: int
    spent: Spent
    units: tuple[UnitResult, ...]
    summary: EvalRunSummary
    iteration: str

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        data: dict[str, Any] = to_builtins(self)
        return data
