"""The names of the built-in tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.text.near_words import near_words
from prowess.errors import ToolNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable

BUILTIN_NAMES = ("Read", "Write", "Edit", "Glob", "Grep", "Bash")


def builtin_named(words: str | Iterable[str]) -> tuple[str, ...]:
    """Return the built-in tools with these names, each once. Case is ignored.

        builtin_named("read, bash") == ("Read", "Bash")

    `words` is a list, or a text with names separated by commas.

    Raises:
        ToolNotFoundError: there is no such tool; with similar names, or all names, as suggestions.
    """
    listed = words.split(",") if isinstance(words, str) else words
    by_word = {name.lower(): name for name in BUILTIN_NAMES}
    named = [word.strip() for word in listed if word.strip()]
    if unknown := [word for word in named if word.lower() not in by_word]:
        near = near_words(unknown[0].lower(), by_word)
        raise ToolNotFoundError(unknown[0][:80], tuple(by_word[word] for word in near) or BUILTIN_NAMES)
    return tuple(dict.fromkeys(by_word[word.lower()] for word in named))
