"""The report of `prowess eval triggers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, to_builtins

if TYPE_CHECKING:
    from prowess.evals.campaigns.report import GateResult, StopReason
    from prowess.evals.ledger.caps import Spent
    from prowess.evals.triggers.rows import TriggerRow, TriggerSummary
    from prowess.evals.triggers.shadows import AnswerRow, Shadow


class SkillTriggers(Struct, frozen=True, kw_only=True):
    """The results of one skill. `advice` are sentences on its trigger set. `results` are the guide's rows."""

    skill: str
    description: str
    results: tuple[TriggerRow, ...]
    summary: TriggerSummary
    advice: tuple[str, ...] = ()


class TriggerReport(Struct, frozen=True, kw_only=True):
    """The trigger sets of one skill, or of several that were installed together.

    `estimate` is true if no model was asked. `complete` is false if runs are missing that could change a result, and
    `stopped` tells why. `consistency` is the least share of equal outcomes that was asked for, or None. `matrix` and
    `shadows` are empty for one skill. `gates` are those that were named. `iteration` is the folder of the runs,
    None for an estimate.
    """

    complete: bool
    stopped: StopReason | None
    estimate: bool
    model: str | None
    host: str
    seed: int
    runs: int
    consistency: float | None
    spent: Spent
    skills: tuple[SkillTriggers, ...]
    matrix: tuple[AnswerRow, ...] = ()
    shadows: tuple[Shadow, ...] = ()
    gates: tuple[GateResult, ...] = ()
    iteration: str | None = None

    @property
    def passed(self) -> bool:
        """Whether every request passed."""
        return all(row.passed for skill in self.skills for row in skill.results)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON data. The members of a single skill stand beside the others."""
        data: dict[str, Any] = to_builtins(self)
        if len(self.skills) == 1:
            single = data.pop("skills")[0]
            del data["matrix"], data["shadows"]
            data = {"skill": single.pop("skill"), **data, **single}
        return data
