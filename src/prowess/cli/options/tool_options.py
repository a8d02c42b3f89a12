"""The option `--tools` of the commands that offer built-in tools."""

from __future__ import annotations

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.tools.builtin import BUILTIN_NAMES

BY_WORD = {name.lower(): name for name in BUILTIN_NAMES}


def tools_named(words: str) -> list[str]:
    """Return the built-in tools of a list with commas, in whatever case they stand there, each once.

    Raises:
        click.BadParameter: there is no such tool.
    """
    named = [word.strip().lower() for word in words.split(",") if word.strip()]
    if unknown := [word for word in named if word not in BY_WORD]:
        reason = f"{unknown[0]!r} is none of {', '.join(BY_WORD)}"
        raise click.BadParameter(printable_line(reason), param_hint="--tools")
    return [BY_WORD[word] for word in dict.fromkeys(named)]
