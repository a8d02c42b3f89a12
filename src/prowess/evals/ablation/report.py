"""The report of `prowess eval ablate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, to_builtins

from prowess.evals.ledger.caps import Spent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.evals.ablation.passages import Passage
    from prowess.evals.ablation.trials import TrialDecision
    from prowess.evals.campaigns.report import StopReason, UngradedAssertion

NoticeVerdict = Literal["notices", "silent", "unsure"]
AblationVerdict = Literal["needed", "no_effect", "unsure"]


class AblatedPassage(Struct, frozen=True, kw_only=True):
    """The results without one passage.

    `delta` is the change of the pass rate with its 95 % interval, None if nothing could be measured. `failing` names
    the assertions that notice. `runs` is the number of runs without the passage.
    """

    path: str
    line: int
    end_line: int
    text: str
    verdict: AblationVerdict
    delta: float | None
    low: float | None
    high: float | None
    failing: tuple[str, ...] = ()
    runs: int = 0

    @classmethod
    def of(cls, passage: Passage, verdict: AblationVerdict, **found: Any) -> AblatedPassage:  # noqa: ANN401 -- the fields above
        """Return the result of a passage."""
        place: dict[str, Any] = {name: getattr(passage, name) for name in ("path", "line", "end_line", "text")}
        return cls(verdict=verdict, **place, **found)


class EvalNotice(Struct, frozen=True, kw_only=True):
    """The removals that one eval or case notices. `removals` counts the passages whose removal makes it fail.

    `silent` means that it is known to notice none of them, `unsure` that not all are decided for it.
    """

    eval: str
    verdict: NoticeVerdict
    removals: int

    @classmethod
    def of(cls, name: str, decisions: Sequence[TrialDecision]) -> EvalNotice:
        """Return the result of an eval. `decisions` are about it alone, one for each passage."""
        removals = decisions.count("needed")
        known = bool(decisions) and "open" not in decisions
        return cls(eval=name, verdict="notices" if removals else "silent" if known else "unsure", removals=removals)


class AblationReport(Struct, frozen=True, kw_only=True):
    """The results of all passages, in the order of the files.

    `score` is the share of decided passages that tests or evals notice, None if none is decided. `tried_by` tells which
    of the two ran. `evals` tells of each eval or case whether it notices any removal. `without_verdict` names those
    without an answer, because they fail with the whole skill too. `ungraded` are assertions that no run counts.
    `complete`, `stopped`, `spent` and `iteration` are as in the report of `prowess eval run`.
    """

    skill: str
    by: str
    tried_by: Literal["tests", "evals"]
    units: tuple[AblatedPassage, ...]
    evals: tuple[EvalNotice, ...] = ()
    without_verdict: tuple[str, ...] = ()
    ungraded: tuple[UngradedAssertion, ...] = ()
    complete: bool = True
    stopped: StopReason | None = None
    spent: Spent = Spent()
    iteration: str | None = None

    @property
    def score(self) -> float | None:
        """The share of decided passages that are needed."""
        decided = [unit.verdict for unit in self.units if unit.verdict != "unsure"]
        return decided.count("needed") / len(decided) if decided else None

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        data: dict[str, Any] = to_builtins(self)
        return {**data, "score": self.score}
