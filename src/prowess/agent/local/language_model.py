"""A language model on this machine: it chooses among labels, or writes a little. All else is decided around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence


class Reply(Struct, frozen=True, kw_only=True):
    """What a language model said, and what it took."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0


class Engine(Protocol):
    """Calls block, and are bounded; ModelError where there is no answer."""

    def choose(self, question: str, labels: Sequence[str]) -> Reply:
        """Return one of the labels as the text."""
        ...

    def write(self, prompt: str, most_tokens: int) -> Reply:
        """Return a text of at most so many tokens."""
        ...
