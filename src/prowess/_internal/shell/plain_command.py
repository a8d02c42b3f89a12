"""Parse a command line that is run without a shell: its words, or the reason why it would need a shell.

This parser is used for hooks and for commands in skill bodies. The words are those that bash would pass (`words`):
quotes are removed and hold a word together. A line that needs a shell is refused and never run in part. These
constructs need a shell: several commands, a redirection, a substitution, a variable, a file name pattern, an
assignment, a builtin.

Placeholders of the caller are replaced by markers before the line is parsed, and by their values afterwards. So a value
stays part of the word that contains its placeholder, whatever characters the value has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess._internal.shell.command_line import refuse_command
from prowess._internal.shell.words import Operator, ShellRefusal, read_words, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

# Private use characters around the number of a value, used in place of the value while the line is parsed.
_OPEN, _CLOSE = "\ue000", "\ue001"
_SIGNS = {
    "\n": ("lines", "it has several lines"),
    "|": ("pipe", "'|' connects two commands"),
    "|&": ("pipe", "'|&' connects two commands"),
}


def plain_words(
    line: str,
    placeholders: re.Pattern[str] | None = None,
    value: Callable[[re.Match[str]], str | None] = lambda _: None,
) -> tuple[str, ...] | ShellRefusal:
    """Return the words of a simple command, or a refusal. `value` returns a placeholder's text, or None to keep it."""
    values: list[str] = []

    def marked(match: re.Match[str]) -> str:
        text = value(match)
        if text is None:
            return match[0]
        values.append(text)
        return f"{_OPEN}{len(values) - 1}{_CLOSE}"

    if not {_OPEN, _CLOSE, "\0"}.isdisjoint(line):
        return refusal("control", "it contains a character that is not allowed in a command line")
    marks = line if placeholders is None else placeholders.sub(marked, line)
    try:
        tokens = read_words(marks.strip().encode())
    except UnicodeEncodeError:
        return refusal("control", "it is not valid Unicode text")
    if isinstance(tokens, ShellRefusal):
        return tokens
    found = []
    for token in tokens:
        if isinstance(token, Operator):
            return _refused_sign(token)
        if token.expands:
            return refusal("pattern", f"'{token.source[:80]}' is expanded to file names or a home directory")
        found.append(token)
    if not found:
        return refusal("empty", "there is nothing to run")
    if (refused := refuse_command(found, moved=False)) is not None:
        return refused
    return tuple(re.sub(f"{_OPEN}([0-9]+){_CLOSE}", lambda mark: values[int(mark[1])], word.text) for word in found)


def _refused_sign(sign: Operator) -> ShellRefusal:
    if sign.redirects:
        return refusal("redirection", f"'{sign.text}' redirects input or output")
    construct, reason = _SIGNS.get(sign.text, ("list", f"'{sign.text}' joins several commands"))
    return refusal(construct, reason)
