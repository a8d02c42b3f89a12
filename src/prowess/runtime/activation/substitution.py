"""Placeholders in a body, replaced in a single pass: a value that is put in is never looked at again.

`${SKILL_DIR}` and `${SESSION_ID}`, also as `${CLAUDE_SKILL_DIR}` and `${CLAUDE_SESSION_ID}`, are replaced always. The
others are replaced only if the activation carries arguments (an empty text counts): `$ARGUMENTS` is the whole text,
`$0`, `$1`, ... and `$ARGUMENTS[0]`, ... are its words, and a name that the skill declares, as `$name` or `${name}`, is
the word at its position, or its default. A placeholder without a word stays as it is written.

An amount, a cell and a variable are no placeholder: `$N` stays if a letter, a digit, `_` or `$` is before it, or a
letter, a digit, `_`, `,ddd` or `.d` after it (`US$1`, `$B$2`, `$5M`, `$1,000`, `$1.50`). A single backslash before a
placeholder for arguments is removed and the placeholder stays. Everything else stays: other shell variables,
`${ARGUMENTS}`, a backslash before another dollar, a dollar after a dollar, and the brace of `$ARGUMENTS}`.

Claude Code, skills, available string substitutions; the rules for amounts are ours.
"""

from __future__ import annotations

import re
from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess.format.fields.placeholders import LETTER, NUMBERED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FirstArgument = Literal[0, 1]

_PLACE = r"\$\{(?:CLAUDE_)?(?P<place>SKILL_DIR|SESSION_ID)\}"
_CLOSING_QUOTES = {'"': re.compile('"'), "'": re.compile(rf"'(?!{LETTER})")}  # not the one in `don't`
_WORD_START, _WORD_REST = re.compile(r"\S"), re.compile(r"\S*")


class Values(Struct, frozen=True, kw_only=True):
    """What placeholders stand for; `args` is None if the activation carries no arguments.

    `declared` are the arguments that the skill declares, in order: name -> default, None if there is none.
    `first_argument` is the number of the first word.
    """

    skill_dir: str
    session_id: str
    args: str | None = None
    declared: Mapping[str, str | None] = MappingProxyType({})
    first_argument: FirstArgument = 0


class Replacement(Struct, frozen=True, kw_only=True):
    """A stretch of the body, in code points, and the text that takes its place as it is."""

    start: int
    end: int
    text: str


class Substitutions(Struct, frozen=True, kw_only=True):
    """What was put into a body: placeholder as written -> how often it was replaced.

    `unfilled` are the placeholders that stayed because the arguments have no such word, each once, in order.
    `appended`: no placeholder took an argument, so the arguments stand behind the body.
    """

    replaced: dict[str, int] = {}
    unfilled: tuple[str, ...] = ()
    appended: bool = False

    def as_dict(self) -> dict[str, object]:
        """Return it as JSON data."""
        return {"replaced": dict(self.replaced), "unfilled": list(self.unfilled), "appended": self.appended}


NOTHING = Substitutions()


class Substituted(Struct, frozen=True, kw_only=True):
    """A body with its values, and what was put into it."""

    text: str
    substitutions: Substitutions = NOTHING


def words(args: str) -> tuple[str, ...]:
    """Split arguments at white space. A quote at the start of a word holds blanks together up to the next of its kind.

    A second quoted part may follow at once, as in a shell: `'it'"'"'s'` is `it's`. A quote inside a word, one that is
    never closed and a backslash are characters like any other.
    """
    closing = dict(_CLOSING_QUOTES)
    found: list[str] = []
    at = 0
    while (start := _WORD_START.search(args, at)) is not None:
        at = start.start()
        word = ""
        while (closes := closing.get(args[at : at + 1])) is not None:
            if (end := closes.search(args, at + 1)) is None:
                del closing[args[at]]  # no later one is closed either
                break
            word += args[at + 1 : end.start()]
            at = end.end()
        rest = _WORD_REST.match(args, at)
        word, at = (word, at) if rest is None else (word + rest[0], rest.end())
        found.append(word)
    return tuple(found)


class Placeholders:
    """The placeholders of one skill and their values; counts what it replaces."""

    def __init__(self, values: Values) -> None:
        self._given = values.args is not None
        self._places = {"${SKILL_DIR}": values.skill_dir, "${SESSION_ID}": values.session_id}
        self._defaults: dict[str, str] = {}
        self._arguments: dict[str, str] = {}
        if values.args is not None:
            given = words(values.args)
            self._defaults = {f"${name}": text for name, text in values.declared.items() if text is not None}
            self._arguments = {f"${number}": word for number, word in enumerate(given, values.first_argument)}
            self._arguments |= {f"${name}": word for name, word in zip(values.declared, given, strict=False)}
            self._arguments["$ARGUMENTS"] = values.args
        self.pattern = _pattern(values.declared)
        self.taken = False  # whether a placeholder took an argument
        self.replaced = Counter[str]()
        self.unfilled: dict[str, None] = {}

    def value(self, match: re.Match[str]) -> str | None:
        """Return the text for a match of `pattern`; None if it stays as it is written."""
        if (bare := match["bare"]) is not None:
            return bare if self._given else None
        if (key := _spelling(match)) is None:
            return None
        argument = self._arguments.get(key)
        text = self._defaults.get(key, self._places.get(key)) if argument is None else argument
        self.taken = self.taken or argument is not None
        if text is not None:
            self.replaced[match[0]] += 1
        elif self._given:
            self.unfilled[match[0]] = None
        return text

    def into(self, text: str) -> str:
        """Return `text` with its placeholders replaced."""

        def put(match: re.Match[str]) -> str:
            value = self.value(match)
            return match[0] if value is None else value

        return self.pattern.sub(put, text)


def substituted(body: str, values: Values, replacements: Sequence[Replacement] = ()) -> Substituted:
    """Return the body with its placeholders replaced, and with `replacements` (in order, apart) put in their places.

    If there are arguments and no placeholder takes one, they follow the body as `ARGUMENTS: ...`.
    """
    placeholders = Placeholders(values)
    parts: list[str] = []
    at = 0
    for replacement in replacements:
        parts += (placeholders.into(body[at : replacement.start]), replacement.text)
        placeholders.into(body[replacement.start : replacement.end])  # what a command takes counts
        at = replacement.end
    text = "".join((*parts, placeholders.into(body[at:])))
    appended = bool(values.args and values.args.strip()) and not placeholders.taken
    if appended:
        text = f"{text.rstrip()}\n\nARGUMENTS: {values.args}\n"
    facts = Substitutions(
        replaced=dict(placeholders.replaced), unfilled=tuple(placeholders.unfilled), appended=appended
    )
    return Substituted(text=text, substitutions=facts)


def _spelling(match: re.Match[str]) -> str | None:
    """Return the one spelling under which the value of a placeholder is known; None for a dollar that is none."""
    if (number := match["number"] or match["index"]) is not None:
        return f"${number.lstrip('0') or '0'}"
    if (name := match["name"]) is not None:
        return f"${name.strip('${}')}"
    if (place := match["place"]) is not None:
        return f"${{{place}}}"
    return match["whole"]


def _pattern(declared: Mapping[str, str | None]) -> re.Pattern[str]:
    # Longest first, so that a name is not taken for the beginning of another; the end of a name is looked at as well.
    names = "|".join(re.escape(name) for name in sorted(declared, key=len, reverse=True)) or r"(?!)"
    named = rf"\$(?:{names})(?![A-Za-z0-9_])|\$\{{(?:{names})\}}"
    whole = r"\$ARGUMENTS(?![A-Za-z0-9_])"
    # The second and third alternative take dollars that are no placeholders: one that is escaped, and the shell's `$$`.
    return re.compile(
        rf"(?<!\\)\\(?P<bare>\$[0-9]+|{whole}|{named})|(?<!\\)\\\$|\$\$"
        rf"|{NUMBERED}|\$ARGUMENTS\[(?P<index>[0-9]+)\]|(?P<whole>{whole})|(?P<name>{named})|{_PLACE}"
    )
