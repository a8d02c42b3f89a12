"""The results of evals with one body."""

from __future__ import annotations

from msgspec import Struct

from prowess.evals.campaigns.report import GradedAssertion  # noqa: TC001 -- msgspec reads the types of fields
from prowess.evals.triggers.split import Side  # noqa: TC001 -- as above


class EvalRow(Struct, frozen=True, kw_only=True):
    """One eval with one body.

    - `runs` are the runs that count, `passed_runs` those that passed; `errors` do not count.
    - `passed` is whether at least half of them passed; null if runs are missing that could change it. An eval without a
      run that counts fails.
    - `unused` are runs in which the agent did not use the skill, so that it did not read the body.
    - `failing` are the assertions that failed in the first run that failed, `answer` is the beginning of its answer.
    """

    eval: str
    split: Side
    runs: int
    passed_runs: int
    errors: int
    passed: bool | None
    failing: tuple[GradedAssertion, ...] = ()
    unused: int = 0
    answer: str = ""

    @property
    def case(self) -> str:
        """The id of the eval."""
        return self.eval
