"""Split a command line into words and operators as bash does, and refuse constructs that bash would have to expand.

The line is read byte by byte, and each byte belongs to a word, an operator, a comment, or is a space, a tab or a
continuation (a backslash before a line break). Quotes are removed as POSIX, *Shell Command Language*, 2.2, defines.
These constructs end the reading with a reason, because they would start another program or give a word that is not in
the line: expansions, substitutions, subshells, background commands, here-documents, and control characters that other
shell parsers treat as blanks.

Two expansions are permitted, because they do not start programs: file names (`*.md`) and home directories (`~`). A word
with one of them has `expands` set. Code that matches such a word must not assume that bash passes its text.
"""

from __future__ import annotations

import re

from msgspec import Struct

_BLANKS = " \t"
_ENDS_WORD = " \t\n;&|<>()"
_ESCAPED_IN_QUOTES = '$`"\\'
_OPERATORS = ("&>>", "&&", "&>", "||", "|&", "|", ";")
_REDIRECTIONS = ("<>", "<&", "<", ">>", ">&", ">|", ">")
_CONTINUATIONS = r"(?:\\\n)+"
_DELETE = "\x7f"
_PLAIN_RUN = re.compile(r"[A-Za-z0-9_./@%+,:=-]+")  # characters that mean themselves at any place of a word
_QUOTED_RUN = re.compile(r"[^\"`$\\]+")  # characters without a meaning inside double quotes


class ShellRefusal(Struct, frozen=True, kw_only=True):
    """Why a command line is refused. `construct` is a short name for programs, `reason` a sentence for people."""

    construct: str
    reason: str


def refusal(construct: str, reason: str) -> ShellRefusal:
    """Return a refusal."""
    return ShellRefusal(construct=construct, reason=reason)


class Word(Struct, frozen=True, kw_only=True):
    """One word. `start` and `end` are byte offsets in the line.

    `text` is the word without quotes, `source` the word as written. `bare` holds its characters outside all quotes.
    `expands` means that bash may replace it by file names or a home directory.
    """

    text: str
    source: str
    bare: str
    expands: bool
    start: int
    end: int


class Operator(Struct, frozen=True, kw_only=True):
    """A separator (`; && || | |&` or a line break) or a redirection operator."""

    text: str
    start: int
    end: int

    @property
    def redirects(self) -> bool:
        """Whether the operator begins a redirection."""
        return ">" in self.text or "<" in self.text


class _Refused(Exception):  # noqa: N818 -- control flow inside this module; it never leaves it
    def __init__(self, construct: str, reason: str) -> None:
        super().__init__(construct, reason)
        self.refusal = refusal(construct, reason)


def read_words(line: bytes) -> tuple[Word | Operator, ...] | ShellRefusal:
    """Split `line`, which must be UTF-8 without NUL, into words and operators."""
    # One character per byte, so that offsets are byte offsets. Complete words are decoded from UTF-8.
    reader = _Reader(line.decode("latin-1"))
    try:
        return tuple(reader.tokens())
    except _Refused as refused:
        return refused.refusal


class _Reader:
    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0

    def tokens(self) -> list[Word | Operator]:
        found: list[Word | Operator] = []
        while self._at < len(self._source):
            char = self._source[self._at]
            if char in _BLANKS:
                self._at += 1
            elif self._is_continuation():
                self._skip_continuations()
            elif char == "#":
                end = self._source.find("\n", self._at)
                self._at = len(self._source) if end < 0 else end
            elif char == "\n":
                found.append(self._operator("\n"))
            elif char in ";&|<>()":
                found.append(self._sign())
            else:
                found.append(self._word())
        return found

    def _is_continuation(self) -> bool:
        return self._source.startswith("\\\n", self._at)

    def _skip_continuations(self) -> None:
        """Skip continuations next to a blank. Refuse others, because removing one would change a word or operator."""
        match = re.compile(_CONTINUATIONS).match(self._source, self._at)
        end = len(self._source) if match is None else match.end()
        before = self._source[self._at - 1 : self._at]
        after = self._source[end : end + 1]
        if before not in _BLANKS + "\n" and after not in _BLANKS + "\n":
            raise _Refused("continuation", "a backslash at the end of a line needs a blank before it")
        self._at = end

    def _operator(self, text: str) -> Operator:
        start = self._at
        self._at += len(text)
        return Operator(text=text, start=start, end=self._at)

    def _sign(self) -> Operator:
        rest = self._source[self._at : self._at + 3]
        if rest[0] in "()":
            raise _Refused("subshell", f"'{rest[0]}' opens or closes a subshell, a group or a function")
        if rest[:2] in {";;", ";&"}:
            raise _Refused("syntax", f"'{rest[:2]}' belongs to a case statement")
        if rest[:2] in {"<(", ">("}:
            raise _Refused("process-substitution", f"'{rest[:2]}...)' runs a command in a process substitution")
        if rest[:2] == "<<":
            what = "here-string" if rest == "<<<" else "here-document"
            raise _Refused("heredoc", f"'{'<<<' if rest == '<<<' else '<<'}' begins a {what}")
        for text in (*_OPERATORS, *_REDIRECTIONS):
            if rest.startswith(text):
                return self._operator(text)
        raise _Refused("background", "'&' runs a command in the background")

    def _word(self) -> Word:
        start = self._at
        text: list[str] = []
        bare: list[str] = []
        expands = False
        while self._at < len(self._source) and (char := self._source[self._at]) not in _ENDS_WORD:
            if (run := _PLAIN_RUN.match(self._source, self._at)) is not None:
                text.append(run[0])
                bare.append(run[0])
                self._at = run.end()
            elif char == "'":
                text.append(self._single_quoted())
            elif char == '"':
                text.append(self._double_quoted())
            elif char == "\\":
                if self._is_continuation():
                    self._skip_continuations()
                    break  # a blank follows, so the word is complete
                text.append(self._escaped())
            else:
                self._check_bare(char)
                # bash expands a tilde at the start of a word, and after = or : as in an assignment.
                expands |= char in "*?[" or (char == "~" and (not text or text[-1][-1:] in ("=", ":")))
                text.append(char)
                bare.append(char)
                self._at += 1
        word = "".join(text)
        if bare and not word.isascii():
            _refuse_foreign_blanks(_decoded(word))
        if "{" in bare and ("," in word or ".." in word):
            raise _Refused("braces", "braces with ',' or '..' are expanded to several words; write the words out")
        return Word(
            text=_decoded(word),
            source=_decoded(self._source[start : self._at]),
            bare="".join(bare),
            expands=expands,
            start=start,
            end=self._at,
        )

    def _check_bare(self, char: str) -> None:
        if char == "`":
            raise _Refused("substitution", "'`' runs a command in a substitution")
        if char == "$" and self._source[self._at + 1 : self._at + 2] not in ("", *_BLANKS, "\n"):
            raise _dollar(self._source[self._at : self._at + 2])
        if char < " " or char == _DELETE:
            raise _Refused("control", f"the control character {_named(char)} is not a blank in bash; use a space")

    def _single_quoted(self) -> str:
        end = self._source.find("'", self._at + 1)
        if end < 0:
            raise _Refused("syntax", "a single quote is never closed")
        text = self._source[self._at + 1 : end]
        self._at = end + 1
        return text

    def _double_quoted(self) -> str:
        text: list[str] = []
        self._at += 1
        while self._at < len(self._source):
            if (run := _QUOTED_RUN.match(self._source, self._at)) is not None:
                text.append(run[0])
                self._at = run.end()
                continue
            char, after = self._source[self._at], self._source[self._at + 1 : self._at + 2]
            if char == '"':
                self._at += 1
                return "".join(text)
            if char == "`":
                raise _Refused("substitution", "'`' runs a command in a substitution, inside double quotes too")
            if char == "$" and after not in ('"', *_BLANKS):
                raise _dollar(char + after)
            if char == "\\" and after and after in _ESCAPED_IN_QUOTES:
                text.append(after)
                self._at += 2
            elif char == "\\" and after == "\n":
                self._at += 2
            else:
                text.append(char)
                self._at += 1
        raise _Refused("syntax", "a double quote is never closed")

    def _escaped(self) -> str:
        char = self._source[self._at + 1 : self._at + 2]
        if not char:
            raise _Refused("syntax", "a backslash ends the line and escapes nothing")
        if char < " " or char == _DELETE:
            raise _Refused("control", f"the control character {_named(char)} must not follow a backslash")
        if char > _DELETE:
            # The escaped character has several bytes. The remaining bytes are read next, as ordinary characters.
            self._at += 1
            return ""
        self._at += 2
        return char


def _dollar(start: str) -> _Refused:
    if start in {"$(", "$["}:
        what = "is a command or arithmetic substitution"
    elif start in {"$'", '$"'}:
        what = "begins a string with escapes"
    else:
        what = "is replaced by the value of a variable"
    return _Refused("substitution", f"'{start[0]}' {what}; write the value itself, or put it in single quotes")


def _refuse_foreign_blanks(text: str) -> None:
    for char in text:
        if char.isspace() and not char.isascii():
            raise _Refused("control", f"the character {_named(char)} is not a blank in bash; use a space, or quote it")


def _decoded(text: str) -> str:
    return text if text.isascii() else text.encode("latin-1").decode("utf-8")


def _named(char: str) -> str:
    return f"U+{ord(char):04X}"


_GRAMMAR = frozenset(
    {"if", "for", "while", "until", "case", "select", "function", "time", "coproc", "then", "do", "else"}
)


def is_simple_line(tokens: tuple[Word | Operator, ...]) -> bool:
    """Return whether no word is a part of the shell's own grammar and no variable is set."""
    starts = True
    for token in tokens:
        if isinstance(token, Operator):
            if token.redirects:
                return False
            starts = True
        elif starts:
            if (
                token.source != token.text
                or _PLAIN_RUN.fullmatch(token.source) is None
                or "=" in token.source
                or token.text in _GRAMMAR
            ):
                return False
            starts = False
    return True
