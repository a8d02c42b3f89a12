"""Names of skills in transcripts and queries: when two are the same, when one is a twin, when a query names a skill."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from msgspec import Struct

_TWIN = r"(?:-skill)?-[0-9a-f]{6,}"
_MARKS = r"[\s\"'`*_:,=<>{}\u2018\u2019\u201c\u201d«»\[\]()]*"  # between a name and the word `skill`
_IN_ADDRESS = re.compile(r"://[^\s<>\"'`]+")
_NO_START = r"(?<![\w/$@.~)}\]%#-])(?<!\b[a-z]:)(?<!/\*)(?<!/\*\*)"  # of `/n`: such a sign is in a path


def folded(name: str) -> str:
    """Return the form in which names are compared: NFKC, without case."""
    return unicodedata.normalize("NFKC", name).casefold().strip()


class ComparedName(Struct, frozen=True, kw_only=True):
    """A skill's name, ready for comparison: `base` is the name without its plugin."""

    full: str
    base: str
    plugin: str | None


@lru_cache(maxsize=1024)
def skill_name(name: str) -> ComparedName:
    """Return the parts of a name such as `plugin:name`."""
    full = folded(name)
    plugin, colon, base = full.rpartition(":")
    return ComparedName(full=full, base=base, plugin=plugin if colon else None)


def same_skill(one: str, other: str) -> bool:
    """Whether two names mean the same skill: `plugin:n` is `n`, but not `other:n`."""
    first, second = skill_name(one), skill_name(other)
    if first.base != second.base:
        return False
    return first.plugin is None or second.plugin is None or first.plugin == second.plugin


def is_twin(name: str, skill: str) -> bool:
    """Whether `name` is a copy of the skill under a made-up name: `n-HEX` or `n-skill-HEX`, six digits or more."""
    base = skill_name(skill).base
    given = skill_name(name).base
    return given.startswith(base) and re.fullmatch(_TWIN, given[len(base) :]) is not None


def names_skill(query: str, skill: str) -> str | None:
    """Return the words of a query that name the skill; None if it does not.

    They are `/n`, `$n`, `@n`, `n skill`, `skill n`, a name with a hyphen in full, or the path of its SKILL.md.
    """
    query = unicodedata.normalize("NFKC", query).casefold()
    if skill_name(skill).base.partition("-")[0] not in query:
        return None
    called, named = _naming(skill)
    match = named.search(query) or called.search(_IN_ADDRESS.sub("://", query))
    return None if match is None else match[0].strip()


@lru_cache(maxsize=256)
def _naming(skill: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a call by a sign, which is none inside an address, and of the name in words."""
    name = skill_name(skill)
    base = re.escape(name.base)
    plugin = r"(?:[\w-]+:)?" if name.plugin is None else rf"(?<!\w:)(?:{re.escape(name.plugin)}:)?"
    start = rf"(?<![\w-]){plugin}"
    spoken = re.sub(r"\\-", r"[-_\\s]", base)
    ways = [
        rf"{start}_{{0,2}}{spoken}{_MARKS}(?<![\w-])skill(?![\w-])",
        rf"(?<![\w-])skill{_MARKS}{start}{spoken}(?![\w-])",
        rf"{start}{base}/skill\.md\b",
    ]
    if "-" in name.base:
        ways.append(rf"{start}(?P<mark>_{{0,2}}){base}(?P=mark)(?![\w-])")
    called = rf"{_NO_START}[/$@]{plugin}{base}(?![\w/-]|[.\\:?#&=]\w)"
    return re.compile(called), re.compile("|".join(ways))
