"""Caps on a campaign, and its costs."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from prowess.errors import InvalidArgumentsError, SkillError

CapName = Literal["cost_cap", "token_cap", "call_cap"]


class Caps(Struct, frozen=True, kw_only=True):
    """Caps on everything that one journal books. `None` means no cap.

    `usd` are US dollars, `tokens` count input and output together, `calls` count every request that was sent.

    Raises:
        InvalidArgumentsError: a cap is not above zero.
    """

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None

    def __post_init__(self) -> None:
        given = {"--max-cost-usd": self.usd, "--max-tokens": self.tokens, "--max-calls": self.calls}
        wrong = [name for name, value in given.items() if value is not None and not 0 < value < float("inf")]
        if wrong:
            problems = tuple(f"{name} must be above 0; leave it out to run without this cap" for name in wrong)
            raise InvalidArgumentsError(problems)


class Spent(Struct, frozen=True, kw_only=True):
    """The cost of the calls of a journal. A cap holds for `usd` and `in_doubt_usd` together.

    - `usd` is the cost of calls with a kept answer; None if the price of a call is unknown, answered or in doubt.
    - `in_doubt_usd` is the reserved cost of calls that were sent and have no kept answer. It is never given back.
    - `calls` counts all calls that were sent. Tokens are those of kept answers.
    """

    usd: float | None = 0.0
    in_doubt_usd: float = 0.0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class UnitSpent(Struct, frozen=True, kw_only=True):
    """The use of the last execution of one unit. Replayed calls count with their cost when they were made."""

    calls: int = 0
    replayed_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0


class CapReachedError(SkillError):
    """A call was not made, because it could pass a cap. Later calls of the same unit are refused as well."""

    code = "limit_exceeded"
    cap: CapName
    left: str
    wanted: str
    sentence = (
        "a call was not made: it may need {wanted}, and {left} is left of the cap; "
        "raise the cap and resume to go on from here"
    )
