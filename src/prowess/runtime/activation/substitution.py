"""Placeholders in a body, replaced in a single pass: what a value brings in is never looked at again.

`${SKILL_DIR}` and `${SESSION_ID}` are replaced always. The others are replaced only where the activation carries
arguments (an empty text counts): `$ARGUMENTS` is the whole text, `$1`, `$2`, ... are its words, and a name that the
skill declares, as `$name` or `${name}`, is the word at its position, or its default. Where there is neither, the
placeholder stays. Everything else stays as it is written: other shell variables, `$0`, `${ARGUMENTS}`, a dollar after
a backslash or after another dollar, and the brace of `$ARGUMENTS}`.
"""

from __future__ import annotations

import re
import shlex
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The first two alternatives take a dollar out of the way that is no placeholder: escaped, or the shell's own `$$`.
_BUILT_IN = r"\\\$|\$\$|\$ARGUMENTS(?![A-Za-z0-9_])|\$[1-9][0-9]{0,5}(?![0-9])|\$\{(?:SKILL_DIR|SESSION_ID)\}"


class Values(Struct, frozen=True, kw_only=True):
    """What placeholders stand for; `args` is None where the activation carries no arguments.

    `declared` are the arguments that the skill declares, in order: name -> default, None where there is none.
    """

    skill_dir: str
    session_id: str
    args: str | None = None
    declared: Mapping[str, str | None] = MappingProxyType({})


class Replacement(Struct, frozen=True, kw_only=True):
    """A stretch of the body, in code points, and the text that takes its place as it is."""

    start: int
    end: int
    text: str


def words(args: str) -> tuple[str, ...]:
    """Split arguments at white space; quotes hold a word together, a backslash is a character like any other.

    A text with an open quote is split at white space alone.
    """
    reader = shlex.shlex(args, posix=True, punctuation_chars=False)
    reader.whitespace_split, reader.commenters, reader.escape = True, "", ""
    try:
        return tuple(reader)
    except ValueError:
        return tuple(args.split())


def substituted(body: str, values: Values, replacements: Sequence[Replacement] = ()) -> str:
    """Return the body with its placeholders replaced, and with `replacements` (in order, apart) put in their places."""
    known = _known(values)
    pattern = _pattern(values)

    def value(match: re.Match[str]) -> str:
        return known.get(match[0], match[0])

    parts: list[str] = []
    at = 0
    for replacement in replacements:
        parts += (pattern.sub(value, body[at : replacement.start]), replacement.text)
        at = replacement.end
    return "".join((*parts, pattern.sub(value, body[at:])))


def _known(values: Values) -> dict[str, str]:
    """Return placeholder -> text."""
    known: dict[str, str] = {}
    if values.args is not None:
        given = words(values.args)
        for position, (name, default) in enumerate(values.declared.items()):
            word = given[position] if position < len(given) else default
            if word is not None:
                known[f"${name}"] = known[f"${{{name}}}"] = word
        known |= {f"${number}": word for number, word in enumerate(given, 1)}
        known["$ARGUMENTS"] = values.args
    return known | {"${SKILL_DIR}": values.skill_dir, "${SESSION_ID}": values.session_id}


def _pattern(values: Values) -> re.Pattern[str]:
    # Longest first, so that a name is not taken for the beginning of another; the end of a name is looked at as well.
    names = "|".join(re.escape(name) for name in sorted(values.declared, key=len, reverse=True))
    declared = rf"|\$(?:{names})(?![A-Za-z0-9_])|\$\{{(?:{names})\}}" if names else ""
    return re.compile(_BUILT_IN + declared)
