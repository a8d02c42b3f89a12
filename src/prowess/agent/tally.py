"""What a run has used so far, held against its budget; and how often its calls failed in a row.

Both are reasons to stop, and both are said in one sentence.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.agent.model import Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.agent.model import ToolUse
    from prowess.agent.result import Budget, Ending
    from prowess.tools import ToolResult

MOST_ALIKE = 3  # failures of the same call with the same error, one after another
MOST_FAILURES = 10  # failures of whatever calls, one after another


class Stop(Struct, frozen=True, kw_only=True):
    """Why a run ends; `reason` is None where the model came to an end by itself."""

    ended: Ending
    reason: str | None


class Tally:
    """Counts for one run; `clock` gives seconds that never go back."""

    def __init__(self, budget: Budget, clock: Callable[[], float] = time.monotonic) -> None:
        self._budget, self._clock, self._begun = budget, clock, clock()
        self.usage = Usage(cost_usd=0.0)
        self._last: tuple[str, str, str] | None = None
        self._alike = self._failures = 0

    def add(self, usage: Usage) -> None:
        """Add what a model call used; a cost that is not known makes the sum unknown."""
        known = self.usage.cost_usd
        self.usage = Usage(
            input_tokens=self.usage.input_tokens + usage.input_tokens,
            output_tokens=self.usage.output_tokens + usage.output_tokens,
            cost_usd=None if known is None or usage.cost_usd is None else known + usage.cost_usd,
        )

    def seconds_left(self) -> float | None:
        """Return what is left of the time; None without a bound."""
        bound = self._budget.wall_seconds
        return None if bound is None else max(0.0, bound - (self._clock() - self._begun))

    def over_budget(self) -> Stop | None:
        """Return the first bound that is reached."""
        budget, usage = self._budget, self.usage
        if self.seconds_left() == 0:
            return self.out_of_time()
        if budget.tokens is not None and usage.tokens >= budget.tokens:
            return Stop(ended="token_budget", reason=f"{usage.tokens} tokens are used, of {budget.tokens}")
        if budget.cost_usd is None:
            return None
        if usage.cost_usd is None:
            reason = "the model does not report its cost, so a bound on it cannot be kept"
            return Stop(ended="cost_budget", reason=reason)
        if usage.cost_usd >= budget.cost_usd > 0 or usage.cost_usd > budget.cost_usd:
            reason = f"{usage.cost_usd:.4f} US dollars are spent, of {budget.cost_usd:.4f}"
            return Stop(ended="cost_budget", reason=reason)
        return None

    def out_of_time(self) -> Stop:
        """Return the reason of a run whose time is over."""
        return Stop(ended="time_budget", reason=f"the {self._budget.wall_seconds} seconds of this run are over")

    def called(self, call: ToolUse, result: ToolResult) -> Stop | None:
        """Count one call, and what a sub-agent used in it; return why the run should end, if it should."""
        if result.tokens_used or result.cost_usd:
            self.add(Usage(output_tokens=result.tokens_used, cost_usd=result.cost_usd))
        if result.success:
            self._last, self._alike, self._failures = None, 0, 0
            return None
        detail = result.error_detail or {}
        this = (call.name, json.dumps(call.arguments, sort_keys=True, default=str), str(detail.get("code")))
        self._alike = self._alike + 1 if this == self._last else 1
        self._last = this
        self._failures += 1
        if self._alike >= MOST_ALIKE:
            reason = f"{call.name} failed {self._alike} times in a row with the same arguments: {result.error}"
            return Stop(ended="repeated_failure", reason=reason)
        if self._failures >= MOST_FAILURES:
            reason = f"{self._failures} calls failed one after another, the last: {result.error}"
            return Stop(ended="repeated_failure", reason=reason)
        return None
