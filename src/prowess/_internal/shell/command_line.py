"""Parse a command line for a permission decision: simple commands as argument vectors, or a refusal.

    git log -1 'a; b' | head -3   →   ("git", "log", "-1", "a; b") and ("head", "-3")

Commands are joined by `;` `&&` `||` `|` `|&` or a line break. A construct is refused, with a reason, if it could start
a program whose name is not a word of the line. Two parsers must agree on every byte: the one in `words`, which knows
only permitted constructs, and the grammar of tree-sitter-bash (`syntax_tree`), which knows the whole language. If the
grammar is not installed, every line is refused.

The parsers assume that `bash --norc --noprofile -c` runs the line: not interactive, no aliases, no exported functions,
without `extglob`, with a `PATH` of absolute directories, in a UTF-8 locale. The code that runs the line must use these
settings.

A pattern names a program, but some names are builtins of bash. Most builtins can start any program or change the
meaning of a later name: `exec`, `eval`, `trap`, `export PATH=...`, `hash -p`, `enable -f`, `set`, and every builtin
that takes a variable's name, because a name such as `a[$(id)]` is evaluated. These builtins are refused even if a
pattern permits them. The other builtins only print, test, or change the directory.

The list of builtins is that of bash 5.2. bash starts a name that is not in the list as a program, or fails.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.shell.syntax_tree import GrammarMissingError, outline
from prowess._internal.shell.words import Operator, ShellRefusal, Word, read_words, refusal

if TYPE_CHECKING:
    from collections.abc import Sequence


MAX_BYTES = 64 * 1024
MAX_WORDS = 4096
MAX_COMMANDS = 256

_NULL = "/dev/null"
_JOINS = frozenset({"&&", "||", "|", "|&"})
_OUT_AND_ERR = ">&"


class ShellWord(Struct, frozen=True, kw_only=True):
    """One argument. If `expands` is true, bash passes file names or a home directory in place of the text."""

    text: str
    expands: bool = False


class SimpleCommand(Struct, frozen=True, kw_only=True):
    """One program with its arguments. There is always a first word, and it never expands."""

    words: tuple[ShellWord, ...]

    @property
    def argv(self) -> tuple[str, ...]:
        """The argument vector, without quotes. A word that expands is as it was written."""
        return tuple(word.text for word in self.words)


class ShellParts(Struct, frozen=True, kw_only=True):
    """The simple commands of a line in order, at least one."""

    commands: tuple[SimpleCommand, ...]


def parse_command_line(line: str) -> ShellParts | ShellRefusal:
    """Parse `line`. Never raises; a line that cannot be decided on gives a refusal."""
    if len(line) > MAX_BYTES:
        return refusal("length", f"the command line is longer than {MAX_BYTES} bytes")
    return _parse(line)


@lru_cache(maxsize=64)
def _parse(line: str) -> ShellParts | ShellRefusal:
    try:
        source = line.encode("utf-8")
    except UnicodeEncodeError:
        return refusal("control", "the command line is not valid Unicode text")
    if len(source) > MAX_BYTES:
        return refusal("length", f"the command line is longer than {MAX_BYTES} bytes")
    if "\0" in line:
        return refusal("control", "the command line holds a NUL character")
    tokens = read_words(source)
    if isinstance(tokens, ShellRefusal):
        return tokens
    reading = _Reading()
    return reading.read(tokens) or reading.compare(source) or reading.parts()


class _Reading:
    """Groups tokens into commands. Call `read`, then `compare`, then `parts`."""

    def __init__(self) -> None:
        self._commands: list[list[Word]] = []
        self._words: list[Word] = []
        self._redirected = False
        self._targets: list[Word] = []
        self._separators: list[Operator] = []
        self._joined: str | None = None  # the `&&`, `||` or `|` that still needs a command after it

    def read(self, tokens: tuple[Word | Operator, ...]) -> ShellRefusal | None:
        """Group the tokens. Return a refusal if they are not a list of permitted simple commands."""
        if len(tokens) > MAX_WORDS:
            return refusal("length", f"the command line has more than {MAX_WORDS} words")
        at = 0
        while at < len(tokens):
            token = tokens[at]
            at += 1
            if isinstance(token, Word):
                self._words.append(token)
            elif token.redirects:
                fault = self._redirect(token, tokens[at] if at < len(tokens) else None)
                at += 1
                if fault:
                    return fault
            elif fault := self._separate(token):
                return fault
        if fault := self._end_command():
            return fault
        if self._joined is not None:
            return refusal("syntax", f"a command is missing after '{self._joined}'")
        if not self._commands:
            return refusal("empty", "there is nothing to run")
        return self._judge()

    def _separate(self, token: Operator) -> ShellRefusal | None:
        empty = not self._words and not self._redirected
        if token.text == "\n":
            return None if empty else self._end_command()
        if empty:
            return refusal("syntax", f"a command is missing before '{token.text}'")
        self._separators.append(token)
        fault = self._end_command()
        self._joined = token.text if token.text in _JOINS else None
        return fault

    def _end_command(self) -> ShellRefusal | None:
        if self._redirected and not self._words:
            return refusal("empty", "a redirection needs a command")
        if self._words:
            self._commands.append(self._words)
            self._words, self._redirected, self._joined = [], False, None
        return None

    def _redirect(self, sign: Operator, target: Word | Operator | None) -> ShellRefusal | None:
        descriptor: str | None = None
        if self._words and self._words[-1].end == sign.start and not sign.text.startswith("&"):
            word = self._words[-1]
            if word.source.startswith("{"):
                return refusal("redirection", f"'{word.source[:80]}{sign.text}' stores a descriptor in a variable")
            if word.bare == word.source and word.source.isdigit():
                descriptor = self._words.pop().source
        if not isinstance(target, Word):
            return refusal("syntax", f"a target is missing after '{sign.text}'")
        self._redirected = True
        self._targets.append(target)
        if descriptor is not None and len(descriptor) > 1:
            return refusal("redirection", "a descriptor must have one digit")
        if sign.text == _OUT_AND_ERR and target.source in set("0123456789"):
            return None
        joins_both = sign.text == _OUT_AND_ERR and descriptor is not None
        if target.text == _NULL and not target.expands and sign.text != "<&" and not joins_both:
            return None
        does = "reads" if sign.text.startswith("<") else "writes"
        return refusal("redirection", f"'{sign.text}' {does} a file; only N>&M and {_NULL} are permitted")

    def _judge(self) -> ShellRefusal | None:
        if len(self._commands) > MAX_COMMANDS:
            return refusal("length", f"the command line has more than {MAX_COMMANDS} commands")
        moved = False
        for words in self._commands:
            if fault := refuse_command(words, moved=moved):
                return fault
            moved = moved or moves(words[0].text)
        return None

    def compare(self, source: bytes) -> ShellRefusal | None:
        """Compare the result of `read` with the result of the grammar. Return a refusal if they differ."""
        try:
            seen = outline(source)
        except GrammarMissingError:
            return refusal(
                "grammar", "patterns of Bash need a shell grammar, which is not installed: pip install 'prowess[shell]'"
            )
        if seen is None:
            return refusal("syntax", "the line contains more than simple commands")
        ours = [[(word.start, word.end) for word in words] for words in self._commands]
        if (
            seen.commands != ours
            or seen.redirections != [(word.start, word.end) for word in self._targets]
            or seen.separators != [(sign.start, sign.end) for sign in self._separators]
        ):
            return refusal("ambiguous", "two shell parsers read this line differently; write it more plainly")
        return None

    def parts(self) -> ShellParts:
        """Return the commands."""
        return ShellParts(
            commands=tuple(
                SimpleCommand(words=tuple(ShellWord(text=word.text, expands=word.expands) for word in words))
                for words in self._commands
            )
        )


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
# Formats without `%n`, which stores into a variable named by an argument, and without `*`, which takes an argument.
_PLAIN_FORMAT = r"(?s)(?:[^%]|%%|%[-+ #0]*\d*(?:\.\d*)?[sbqdiouxXcfFeEgG])*"
_ASSIGNMENT = r"(?s)[A-Za-z_][A-Za-z0-9_]*(?:\[.*)?\+?="


def refuse_command(words: Sequence[Word], *, moved: bool) -> ShellRefusal | None:
    """Return why a command is refused even if a pattern permits it. `moved`: the directory was changed earlier."""
    name = words[0]
    if name.bare == name.source and name.text in _KEYWORDS:
        return refusal("keyword", f"'{name.text}' is a word of the shell's own grammar, not a program")
    if re.match(_ASSIGNMENT, name.source) or "=" in name.bare:
        return refusal("assignment", "an assignment before a command changes what the command does")
    if name.expands or "{" in name.bare or "}" in name.bare:
        return refusal("name", f"the program's name must be fixed text: '{name.source[:80]}' is expanded first")
    if not name.text or name.text[0] in "-+%":
        return refusal("name", "a command must begin with the name of a program")
    if name.text in _HARMLESS or name.text in _REFUSED:
        return _refuse_builtin(name.text, words)
    if moved and "/" in name.text and not name.text.startswith("/"):
        return refusal(
            "directory", f"after a change of directory '{name.text[:80]}' names another file; give its absolute path"
        )
    return None


def moves(name: str) -> bool:
    """Return whether this builtin changes the directory for the commands after it."""
    return name in _MOVES


def _refuse_builtin(name: str, words: Sequence[Word]) -> ShellRefusal | None:
    if name in _RUNS_ITS_ARGUMENTS:
        return refusal("builtin", f"'{name}' runs commands from its arguments")
    if name in _REFUSED:
        return refusal("builtin", f"'{name}' is a part of the shell that can change what later commands do")
    if name == "test" and any(word.expands or word.text in {"-v", "-R"} for word in words[1:]):
        return refusal("builtin", "'test' is permitted only without -v, without -R and without words that are expanded")
    if name == "printf" and len(words) > 1:
        form = words[1]
        if form.expands or form.text.startswith("-") or not re.fullmatch(_PLAIN_FORMAT, form.text):
            return refusal("builtin", "'printf' is permitted only with a plain format: no option, no %n, no *")
    return None
