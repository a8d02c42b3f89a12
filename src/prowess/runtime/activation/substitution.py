"""Placeholders in a body, replaced in a single pass: inserted values are not scanned again.

`${SKILL_DIR}` and `${SESSION_ID}`, and their forms `${CLAUDE_SKILL_DIR}` and `${CLAUDE_SESSION_ID}`, are always
replaced. The others are replaced only if the activation has arguments (an empty text counts): `$ARGUMENTS` is the whole
text; `$0`, `$1`, ... and `$ARGUMENTS[0]`, ... are its words; a declared name, as `$name` or `${name}`, is the word at
its position, or its default. A placeholder stays as written if there is no word at its position and no default.

Amounts, spreadsheet cells and shell variables are not placeholders. `$N` stays as written after a letter, a digit, `_`
or `$`, and before a letter, a digit, `_`, `,ddd` or `.d` (`US$1`, `$B$2`, `$5M`, `$1,000`, `$1.50`). A single backslash
before a placeholder for arguments is removed, and the placeholder stays. All other text stays as written: other shell
variables, `${ARGUMENTS}`, a backslash before another dollar, a dollar after a dollar, and a brace after `$ARGUMENTS`.

Source: Claude Code, skills, available string substitutions. The rules for amounts are additions of Prowess.
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
MAX_INSERTED = 1_000_000  # characters that replace placeholders in one body; further placeholders stay as written

_PLACE = r"\$\{(?:CLAUDE_)?(?P<place>SKILL_DIR|SESSION_ID)\}"
_CLOSING_QUOTES = {'"': re.compile('"'), "'": re.compile(rf"'(?!{LETTER})")}  # but not an apostrophe as in `don't`
_WORD_START, _WORD_REST = re.compile(r"\S"), re.compile(r"\S*")


class Values(Struct, frozen=True, kw_only=True):
    """The values of placeholders. `args` is None if the activation has no arguments.

    `declared` maps the declared arguments of the skill, in order, to their defaults; None if there is no default.
    `first_argument` is the number of the first word: 0 or 1.
    """

    skill_dir: str
    session_id: str
    args: str | None = None
    declared: Mapping[str, str | None] = MappingProxyType({})
    first_argument: FirstArgument = 0


class Replacement(Struct, frozen=True, kw_only=True):
    """A range of the body, in code points, and the text that replaces it unchanged."""

    start: int
    end: int
    text: str


class Substitutions(Struct, frozen=True, kw_only=True):
    """The substitutions made in a body: `replaced` maps each placeholder, as written, to its number of replacements.

    `unfilled` lists, once and in order, each placeholder without an argument or after `MAX_INSERTED`. `appended` means
    that the arguments follow the body because no placeholder used one.
    """

    replaced: dict[str, int] = {}
    unfilled: tuple[str, ...] = ()
    appended: bool = False

    def as_dict(self) -> dict[str, object]:
        """Return the substitutions as JSON data."""
        return {"replaced": dict(self.replaced), "unfilled": list(self.unfilled), "appended": self.appended}


NOTHING = Substitutions()


class Substituted(Struct, frozen=True, kw_only=True):
    """A body with its placeholders replaced, and the substitutions made."""

    text: str
    substitutions: Substitutions = NOTHING


def words(args: str) -> tuple[str, ...]:
    """Split arguments at white space, except inside quotes.

    A quote at the start of a word reaches to the next quote of its kind. A second quoted part may follow directly:
    `'it'"'"'s'` is `it's`. Quotes inside a word, unclosed quotes and backslashes are ordinary characters.
    """
    closing = dict(_CLOSING_QUOTES)
    found: list[str] = []
    at = 0
    while (start := _WORD_START.search(args, at)) is not None:
        at = start.start()
        word = ""
        while (closes := closing.get(args[at : at + 1])) is not None:
            if (end := closes.search(args, at + 1)) is None:
                del closing[args[at]]  # later quotes of this kind are unclosed too
                break
            word += args[at + 1 : end.start()]
            at = end.end()
        rest = _WORD_REST.match(args, at)
        word, at = (word, at) if rest is None else (word + rest[0], rest.end())
        found.append(word)
    return tuple(found)


class Placeholders:
    """The placeholders of one skill and their values. Counts the replacements."""

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
        self._room = MAX_INSERTED
        self.taken = False  # True once a placeholder has used an argument
        self.replaced = Counter[str]()
        self.unfilled: dict[str, None] = {}

    def value(self, match: re.Match[str]) -> str | None:
        """Return the replacement for a match of `pattern`; None if the match stays as written."""
        if (bare := match["bare"]) is not None:
            return bare if self._given else None
        if (key := _spelling(match)) is None:
            return None
        argument = self._arguments.get(key)
        text = self._defaults.get(key, self._places.get(key)) if argument is None else argument
        self.taken = self.taken or argument is not None
        if text is not None and len(text) > self._room:
            self._room = 0
            text = None
        if text is not None:
            self._room -= len(text)
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
    """Return the body with its placeholders replaced and `replacements`, ordered and without overlap, inserted.

    Arguments that no placeholder uses are appended as `ARGUMENTS: ...`.
    """
    placeholders = Placeholders(values)
    parts: list[str] = []
    at = 0
    for replacement in replacements:
        parts += (placeholders.into(body[at : replacement.start]), replacement.text)
        placeholders.into(body[replacement.start : replacement.end])  # counts the placeholders inside a command
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
    """Return the normal form of a placeholder, the key of its value; None for a dollar that starts no placeholder."""
    if (number := match["number"] or match["index"]) is not None:
        return f"${number.lstrip('0') or '0'}"
    if (name := match["name"]) is not None:
        return f"${name.strip('${}')}"
    if (place := match["place"]) is not None:
        return f"${{{place}}}"
    return match["whole"]


def _pattern(declared: Mapping[str, str | None]) -> re.Pattern[str]:
    # Longest first, because a name may begin with a shorter one. The pattern also checks where a name ends.
    names = "|".join(re.escape(name) for name in sorted(declared, key=len, reverse=True)) or r"(?!)"
    named = rf"\$(?:{names})(?![A-Za-z0-9_])|\$\{{(?:{names})\}}"
    whole = r"\$ARGUMENTS(?![A-Za-z0-9_])"
    # The second and third alternatives match dollars that start no placeholder: an escaped one, and the shell's `$$`.
    return re.compile(
        rf"(?<!\\)\\(?P<bare>\$[0-9]+|{whole}|{named})|(?<!\\)\\\$|\$\$"
        rf"|{NUMBERED}|\$ARGUMENTS\[(?P<index>[0-9]+)\]|(?P<whole>{whole})|(?P<name>{named})|{_PLACE}"
    )
