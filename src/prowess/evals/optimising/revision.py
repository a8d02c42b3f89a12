"""The text that a search revises: the description of a skill by its trigger set, or its body by its evals.

A search knows texts, cases and rows. A case is a request or an eval; a row is its result with one text.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct

from prowess.evals.optimising.eval_rows import EvalRow
from prowess.evals.optimising.leaks import Leak  # noqa: TC001 -- msgspec reads the types of fields
from prowess.evals.triggers.rows import TriggerRow

_Case = TypeVar("_Case")
_Row = TypeVar("_Row", bound=TriggerRow | EvalRow)
Measure = Callable[[str, Sequence[_Case], int], Awaitable[tuple[_Row, ...]]]
"""Returns the rows of cases with a text, in their order, with a number of runs. Raises StoppedError."""


class EarlierAttempt(Struct, frozen=True, kw_only=True):
    """A text that was tried, with how many of the training cases passed."""

    text: str
    passed: int
    of: int


class ProposalRequest(Struct, Generic[_Row], frozen=True, kw_only=True):
    """The start of a round. `text` is the best one so far, `failures` are its rows that failed in training."""

    number: int
    text: str
    start: str
    failures: tuple[_Row, ...]
    earlier: tuple[EarlierAttempt, ...] = ()


class ProposedText(Struct, frozen=True, kw_only=True):
    """A text, or None if no answer may be one. `refused` are sentences; `leaked` is of all answers."""

    text: str | None
    refused: tuple[str, ...] = ()
    leaked: tuple[Leak, ...] = ()


class Revision(Struct, Generic[_Row], frozen=True, kw_only=True):
    """How one part of a skill is revised.

    - `instructions` are those of the model that writes; `member` of its answer has the text.
    - `question` returns the material for it, as JSON data. `tidied` returns an answer as it would be written.
    - `faults` returns why a tidied text may not be one, as sentences.
    - `leaks` returns the words of training in a text that the first one has not, for a text, the first, and a round.
    - `new_parts` returns the parts of a second text that are tried one by one; `without` a text without a part.
    """

    instructions: str
    member: str
    question: Callable[[ProposalRequest[_Row]], dict[str, Any]]
    tidied: Callable[[str], str]
    faults: Callable[[str], tuple[str, ...]]
    leaks: Callable[[str, str, int], tuple[Leak, ...]]
    new_parts: Callable[[str, str], Sequence[str]]
    without: Callable[[str, str], str]
