"""One paid call: its bound, its answer, and the protocol of whatever makes or replays calls.

The protocol knows bytes and no model, so that our own agent and the gateway before other hosts use the same journal.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 -- as below
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from prowess.agent.model import Usage  # noqa: TC001 -- msgspec reads the types of fields

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from prowess.evals.ledger.caps import UnitSpent
    from prowess.evals.ledger.prices import Price

OWN_HOST = "prowess"
MOST_OUTPUT_TOKENS = 4096  # the bound on an answer if none is given
MOST_TOKENS = 10**12  # that one answer may be said to have used
_MOST_USD = 10**6
# Tokens that a provider adds to a request: marks between messages, and a hidden prompt about tools.
HIDDEN_TOKENS = 1024


class CallBound(Struct, frozen=True, kw_only=True):
    """The most tokens that one call can use."""

    input_tokens: int
    output_tokens: int

    @classmethod
    def of(cls, request: bytes, max_output_tokens: int) -> CallBound:
        """Return the bound of a request: a token has at least one byte, and `max_output_tokens` bounds the answer."""
        return cls(input_tokens=len(request) + HIDDEN_TOKENS, output_tokens=max_output_tokens)


class CallAnswer(Struct, frozen=True, kw_only=True):
    """The answer of one call.

    - `content` are the bytes to hand on. `details` are further texts, such as a status and a content type.
    - `usage` is None if the provider did not report it. Then, and if it is not `is_measured`, the call stays charged at
      its reservation.
    - `refused` is true if the provider rejected the request, which it does not charge (HTTP 4xx). The answer is
      booked without cost, and a resumed run asks again.
    """

    content: bytes
    usage: Usage | None = None
    details: Mapping[str, str] = {}
    refused: bool = False


def is_measured(usage: Usage | None) -> bool:
    """Whether a model's account of one call can be booked: no number in it is negative, not finite, or absurd."""
    if usage is None:
        return False
    are_tokens = all(0 <= tokens <= MOST_TOKENS for tokens in (usage.input_tokens, usage.output_tokens))
    return are_tokens and 0 <= (usage.cost_usd or 0) <= _MOST_USD


class Calls(Protocol):
    """Makes or replays paid calls: a `Ledger`, or the `RecordedCalls` of an earlier run."""

    def begin(self, unit: str, places: Mapping[str, str] | None = None) -> None:
        """Start one execution of a unit: answers that were kept for it are replayed from the first on.

        `places` are absolute paths that differ between executions, such as the workspace, with a short name for each.
        """
        ...

    def unit_spent(self, unit: str) -> UnitSpent:
        """Return the use of the last execution of a unit."""
        ...

    async def call(
        self,
        unit: str,
        request: bytes,
        bound: CallBound,
        ask: Callable[[], Awaitable[CallAnswer]],
        *,
        price: Price | None = None,
        host: str = OWN_HOST,
    ) -> CallAnswer:
        """Return the kept answer of this request, or book a reservation, `ask`, keep the answer and return it.

        Equal requests of a unit are different calls, in their order. `host` names the table of volatile parts that
        requests are compared with. An exception of `ask` passes through; the call stays in doubt.

        Raises:
            CapReachedError: the call could pass a cap, so it was not made.
            InvalidArgumentsError: there is a cap on cost, and the call has no price.
            JournalError: the journal cannot be written. No call is made, or its answer is not handed on.
            DriftError: the calls are replayed, and this request was not recorded.
        """
        ...
