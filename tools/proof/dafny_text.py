"""What the Dafny text says, seen without Dafny: how much is stated, and whether anything is taken for granted.

A proof is worth nothing where it assumes. Whatever Dafny believes without proof is refused here by name: `assume`,
attributes that switch the verifier off, methods of another language, and declarations without a body.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_COMMENT_OR_TEXT = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\u[0-9A-Fa-f]{4}|\\.)\'', re.DOTALL
)
_KINDS = "lemma|predicate|function|method|constructor|iterator"
_DECLARATION = re.compile(
    rf"\b(?P<kind>(?:inductive |colemma|copredicate|twostate |greatest |least )?(?:{_KINDS}))(?: method)?\b"
    r"\s*(?:\{:[^}]*\}\s*)*(?P<name>\w+)"
)
_TRUSTED = (
    (re.compile(r"\bassume\b"), "assume"),
    (re.compile(r"\bexpect\b"), "expect"),
    (re.compile(r"\{:(axiom|extern|verify|termination|assumption|opaque_axiom)\b[^}]*\}"), "an attribute"),
    (re.compile(r"\bdecreases\s+\*"), "decreases *"),
    (re.compile(r"\b(?:include|module)\s*\{:"), "an attribute"),
)
# A brace behind one of these belongs to an expression: a set, a multiset or a map. A `>` that ends a type is none, nor
# is the bar behind a length.
_OPENS_A_SET = re.compile(r"(?:multiset|iset|set|(?<![\w>])>|(?<![\w\])])\||[=!<+*(,:&-]|\bin|\bthen|\belse)\s*\Z")


class Declaration(NamedTuple):
    """A lemma, predicate, function or method; `line` counts from 1."""

    kind: str
    name: str
    line: int
    has_body: bool


def declarations(source: str) -> list[Declaration]:
    """Return what a file declares, in order."""
    text = _blanked(source)
    found = list(_DECLARATION.finditer(text))
    ends = [*(match.start() for match in found), len(text)][1:]
    return [
        Declaration(
            kind=match["kind"].strip(),
            name=match["name"],
            line=text.count("\n", 0, match.start()) + 1,
            has_body=_has_body(text[match.end() : end]),
        )
        for match, end in zip(found, ends, strict=True)
    ]


def taken_for_granted(source: str) -> list[str]:
    """Return what Dafny would believe without a proof, one sentence each with its line; empty for an honest text."""
    text = _blanked(source)
    found = [
        (text.count("\n", 0, match.start()) + 1, f"{what} ({match[0]}) is believed without proof")
        for pattern, what in _TRUSTED
        for match in pattern.finditer(text)
    ]
    found += [(one.line, f"{one.kind} {one.name} has no body") for one in declarations(source) if not one.has_body]
    return [f"line {line}: {sentence}" for line, sentence in sorted(found)]


def texts(directory: Path) -> dict[str, str]:
    """Return the Dafny files of a directory by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(directory.glob("*.dfy"))}


def _blanked(source: str) -> str:
    """Return the text with comments as blanks and literals as quotes, every line break at its place."""
    return _COMMENT_OR_TEXT.sub(lambda match: re.sub(r"[^\n]", " " if match[0][0] == "/" else "'", match[0]), source)


def _has_body(rest: str) -> bool:
    return any(not _OPENS_A_SET.search(rest[:at]) for at in _braces(rest))


def _braces(text: str) -> Iterator[int]:
    """The outermost opening braces, up to the one that closes the module."""
    depth = 0
    for match in re.finditer(r"[{}]", text):
        if match[0] == "}":
            depth -= 1
            if depth < 0:
                return
        else:
            if depth == 0 and not text.startswith("{:", match.start()):
                yield match.start()
            depth += 1
