"""A command line that is run without a shell: its words, or the reason why only a shell could read it.

Hooks and the commands in bodies are read here. The words are those that bash would pass (`words`): quotes are removed
and hold a word together. What a shell would have to do something about is refused and never run in part: several
commands, a redirection, a substitution, a variable, a pattern of file names, an assignment, a builtin.

Placeholders of the caller stand for values before the line is read: a value is a part of the word that its placeholder
stands in, whatever it holds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess._internal.shell.command_line import refuse_command
from prowess._internal.shell.words import Operator, ShellRefusal, read_words, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

# Private characters around the number of a value, in its place while the line is read.
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
    """Return the words of one simple command, the program first, or why there are none.

    `value` gives the text for each match of `placeholders`, None for one that is left as it stands.
    """
    values: list[str] = []

    def marked(match: re.Match[str]) -> str:
        text = value(match)
        if text is None:
            return match[0]
        values.append(text)
        return f"{_OPEN}{len(values) - 1}{_CLOSE}"

    if not {_OPEN, _CLOSE, "\0"}.isdisjoint(line):
        return refusal("control", "it holds a character that no command line holds")
    marks = line if placeholders is None else placeholders.sub(marked, line)
    try:
        tokens = read_words(marks.strip().encode())
    except UnicodeEncodeError:
        return refusal("control", "it is no valid Unicode text")
    if isinstance(tokens, ShellRefusal):
        return tokens
    found = []
    for token in tokens:
        if isinstance(token, Operator):
            return _refused_sign(token)
        if token.expands:
            return refusal("pattern", f"'{token.source[:80]}' is expanded to names of files or of a home directory")
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
