"""The words of bash itself: which may stand first in a simple command that a pattern permits, and which never.

A pattern names a program. Some names are no program but a part of bash, and most of these can start any program or
change what a later name starts: `exec`, `eval`, `trap`, `export PATH=...`, `hash -p`, `enable -f`, `set`, and every
builtin that takes a variable's name, because a name such as `a[$(id)]` is evaluated. They are refused whatever the
tokens say. What is left only prints, tests, or changes the directory.

The list is that of bash 5.2. A name that is missing here is started as a program, or not at all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess._internal.shell.words import refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess._internal.shell.words import ShellRefusal, Word

_KEYWORDS = frozenset(
    {
        *("!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function"),
        *("if", "in", "select", "then", "time", "until", "while"),
    }
)
_HARMLESS = frozenset(
    {
        *(":", "break", "caller", "cd", "continue", "dirs", "echo", "exit", "false", "help", "kill", "logout", "popd"),
        *("printf", "pushd", "pwd", "return", "shift", "test", "times", "true", "type", "ulimit", "umask"),
    }
)
_REFUSED = frozenset(
    {
        *(".", "[", "alias", "bg", "bind", "builtin", "command", "compgen", "complete", "compopt", "declare"),
        *("disown", "enable", "eval", "exec", "export", "fc", "fg", "getopts", "hash", "history", "jobs", "let"),
        *("local", "mapfile", "read", "readarray", "readonly", "set", "shopt", "source", "suspend", "trap"),
        *("typeset", "unalias", "unset", "wait"),
    }
)
_MOVES = frozenset({"cd", "pushd", "popd"})
_RUNS_ITS_ARGUMENTS = frozenset({".", "source", "eval", "exec", "command", "builtin", "trap"})
# Formats without `%n`, which stores into the variable that an argument names, and without `*`, which takes an argument.
_PLAIN_FORMAT = r"(?s)(?:[^%]|%%|%[-+ #0]*\d*(?:\.\d*)?[sbqdiouxXcfFeEgG])*"
_ASSIGNMENT = r"(?s)[A-Za-z_][A-Za-z0-9_]*(?:\[.*)?\+?="


def refuse_command(words: Sequence[Word], *, moved: bool) -> ShellRefusal | None:
    """Return why this simple command is refused whatever the tokens, or None.

    `moved`: a command before it changed the directory, so that a relative path may mean another program.
    """
    name = words[0]
    if name.bare == name.source and name.text in _KEYWORDS:
        return refusal("keyword", f"'{name.text}' is a word of the shell's own grammar, not a program")
    if re.match(_ASSIGNMENT, name.source) or "=" in name.bare:
        return refusal("assignment", "an assignment before a command changes what the command does")
    if name.expands or "{" in name.bare or "}" in name.bare:
        return refusal("name", f"the program is not named: '{name.source[:80]}' is expanded first")
    if not name.text or name.text[0] in "-+%":
        return refusal("name", "a command must begin with the name of a program")
    if name.text in _HARMLESS or name.text in _REFUSED:
        return _refuse_builtin(name.text, words)
    if moved and "/" in name.text and not name.text.startswith("/"):
        return refusal(
            "directory", f"after a change of directory '{name.text[:80]}' is another file; give its absolute path"
        )
    return None


def moves(name: str) -> bool:
    """Whether this builtin changes the directory for the commands after it."""
    return name in _MOVES


def _refuse_builtin(name: str, words: Sequence[Word]) -> ShellRefusal | None:
    if name in _RUNS_ITS_ARGUMENTS:
        return refusal("builtin", f"'{name}' runs commands that it is given as text")
    if name in _REFUSED:
        return refusal("builtin", f"'{name}' is a part of the shell that can change what later commands do")
    if name == "test" and any(word.expands or word.text in {"-v", "-R"} for word in words[1:]):
        return refusal("builtin", "'test' with -v, or with names that are expanded, evaluates what it is given")
    if name == "printf" and len(words) > 1:
        form = words[1]
        if form.expands or form.text.startswith("-") or not re.fullmatch(_PLAIN_FORMAT, form.text):
            return refusal("builtin", "'printf' is permitted with a plain format alone: no option, no %n, no *")
    return None
