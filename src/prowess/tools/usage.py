"""What one call used: model tokens, money, repeated attempts, a cached answer. The result reports it.

A tool that asks a model says so with `report_usage`, from wherever it runs. The executor gives every call a meter of
its own, so that calls at the same time do not share one.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from prowess.tools.door import current_passage

_counting = threading.Lock()  # one for all calls: it is held for a few additions


@dataclass(slots=True, kw_only=True)
class Usage:
    """The meter of one call. `cost_usd` is in US dollars; `retry_count` counts the attempts after the first.

    `approved_by` is who answered where the tool itself asked a person.
    """

    tokens: int = 0
    cost_usd: float = 0.0
    retry_count: int = 0
    cached: bool = False
    approved_by: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to report."""
        return not (self.tokens or self.cost_usd or self.retry_count or self.cached)

    def add(self, *, tokens: int = 0, cost_usd: float = 0.0, retries: int = 0) -> None:
        """Add to the meter; safe from several threads. ValueError for an amount below zero."""
        if tokens < 0 or cost_usd < 0 or retries < 0:
            raise ValueError("a call cannot give back what it used")
        with _counting:
            self.tokens += tokens
            self.cost_usd += cost_usd
            self.retry_count += retries


def current_usage() -> Usage | None:
    """Return the meter of the call that is running here; None outside of a call."""
    found = current_passage()
    if found is None:
        return None
    with _counting:  # most calls use nothing, so the meter is made when it is asked for
        if found.usage is None:
            found.usage = Usage()
    return found.usage


def report_usage(*, tokens: int = 0, cost_usd: float = 0.0) -> None:
    """Add model tokens and their cost to the call that is running here; outside of a call this does nothing."""
    usage = current_usage()
    if usage is not None:
        usage.add(tokens=tokens, cost_usd=cost_usd)


def report_approval(by: str | None) -> None:
    """Note for the record of the call that is running here who answered a question that its tool asked."""
    usage = current_usage()
    if usage is not None:
        usage.approved_by = by or "unknown"
