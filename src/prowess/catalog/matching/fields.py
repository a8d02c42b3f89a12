"""The texts of a skill that are matched, by field, without the sentences on when not to use it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess._internal.text.invisible import visible
from prowess.catalog.matching.match import MatchedField

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.catalog.entry import SkillEntry

FieldText = tuple[MatchedField, str]
FIELDS: tuple[MatchedField, ...] = ("name", "tags", "when_to_use", "description", "body")  # most important first
LONGEST = 20_000  # characters of a field that are read: five times the longest field that the profiles allow

_USE = r"(?:us(?:e|ed|ing)|trigger(?:ed)?|invoke[ds]?|activate[ds]?|apply|applied|load(?:ed)?|select(?:ed)?|choose)"
# Begins the part of a sentence that is about other uses. What follows it up to the end of the sentence is left out.
_NOT = re.compile(
    rf"""
      \b(?:do|does|should|must|shall|can|may|is|are|will)(?:\s+not|n['\u2019]t)\s+(?:be\s+)?(?:to\s+be\s+)?
         (?:{_USE}|for|intended|meant|designed|suitable|needed|necessary|appropriate)\b
    | \b(?:never|avoid|don['\u2019]t)\s+(?:{_USE}|using|for)\b
    | \bskip\s+(?:this|it|the\s+skill|if|when|for)\b
    | \bnot\s+(?:for|when|if|to\s+be\s+used|to\s+{_USE}|intended|meant|suitable|suited|appropriate|recommended)\b
    | \bnot\s+{_USE}\b
    | \bwhen\s+not\s+to\b | \bwhen-not-to-use\b
    | \bnicht\s+(?:f(?:ü|ue)r|verwenden|benutzen|nutzen|wenn)\b | \bne\s+pas\s+utiliser\b
    | \bno\s+(?:usar|utilizar|uses)\b
    | \bn[ãa]o\s+(?:use|usar|utilize)\b | \bnon\s+(?:usare|utilizzare)\b
    | 不要(?:用|使用)|不适用|不用于|不應用|不適用|請勿使用|请勿使用|使用しない|には使わない
    | 사용하지\s*(?:마|않)|не\s+использ\w+|не\s+для\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# What each of the forms above has. Looked for first, because looking for them all takes most of the time of a match.
_MARKS = ("not", "n't", "n\u2019t", "never", "avoid", "skip")
_MARKS_ELSEWHERE = ("nicht", "pas ", "no ", "n\u00e3o", "nao ", "non ")
_MARKS_BEYOND_ASCII = ("不", "勿", "使用しない", "使わない", "사용하지", "не ")
# What the forms in English have after their mark; checked first, because most marks belong to no form.
_GOES_ON = re.compile(
    r"[\s-]+(?:be|to|us|trig|invo|acti|appl|load|sele|choo|for|inte|mean|desi|suit|need|nece|appr|when|if|reco|this|it|the)",
    re.IGNORECASE,
)
_BEFORE, _AFTER = 12, 60  # characters of a form around its mark
_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)[.!?](?=[\s\"')\]]|$)|[\u3002\uff01\uff1f]|\n")
_LINE = re.compile(r"[^\n]*(?:\n|$)")
_ITEM = re.compile(r"\s*(?:[-*+•]|\(?\d{1,2}[.)])\s")
_HEADING = re.compile(r"^(#{1,6})\s+(.*)$", re.MULTILINE)


def fields_of(entry: SkillEntry) -> Iterator[FieldText]:
    """Yield the field and the text of each field that is matched, except the body."""
    yield "name", with_joined(entry.name)
    yield "description", positive(entry.description[:LONGEST])
    if tags := entry.tags:
        yield "tags", visible(" ".join(tags))
    if entry.has_field("when_to_use") and isinstance(when := entry.properties.get("when_to_use"), str):
        yield "when_to_use", positive(visible(when)[:LONGEST])


def with_joined(name: str) -> str:
    """Return a name, and its words joined to one, so that `csvreport` finds `csv-report`."""
    joined = name.replace("-", "").replace("_", "")
    return f"{name} {joined}" if len(joined) != len(name) else name


def body_text(text: str) -> str:
    """Return the part of a body that is matched: its beginning, without sections on when not to use the skill."""
    text = text[:LONGEST]
    kept: list[str] = []
    at, left_out = 0, 0  # the level of the heading whose section is left out, or 0
    for heading in _HEADING.finditer(text):
        if not left_out:
            kept.append(text[at : heading.start()])
        at, level = heading.start(), len(heading.group(1))
        if not left_out or level <= left_out:
            left_out = level if _NOT.search(heading.group(2)) else 0
    if not left_out:
        kept.append(text[at:])
    return positive("".join(kept))


def positive(text: str) -> str:
    """Return a text without its sentences on when not to use the skill. Of a mixed sentence, the beginning is kept."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = text  # rare letters become two in lower case, and places must be those of the text
    places = [
        place
        for mark in _MARKS
        if mark in lower
        for place in _places(mark, lower)
        if _GOES_ON.match(lower, place + len(mark))
    ]
    others = _MARKS_ELSEWHERE if text.isascii() else (*_MARKS_ELSEWHERE, *_MARKS_BEYOND_ASCII)
    places += [place for mark in others if mark in lower for place in _places(mark, lower)]
    if not places:
        return text
    places.sort()
    kept: list[str] = []
    at = 0
    for place in places:
        if place < at:
            continue
        found = _NOT.search(text, max(at, place - _BEFORE), place + _AFTER)
        if found is not None:
            kept.append(text[at : found.start()])
            at = _end_of_sentence(text, found.end())
    kept.append(text[at:])
    return " ".join(kept)


def _places(mark: str, text: str) -> Iterator[int]:
    at = text.find(mark)
    while at >= 0:
        yield at
        at = text.find(mark, at + 1)


def _end_of_sentence(text: str, at: int) -> int:
    """Return the end of the sentence around `at`. A list that the sentence announces belongs to it."""
    end = _END.search(text, at)
    if end is None:
        return len(text)
    place = end.end()
    if text[at : end.start()].rstrip("* \t").endswith(":") or text[at : end.start()].strip("* \t") == "":
        while place < len(text) and ((item := _LINE.match(text, place)) is not None):
            if item.group().strip() and not _ITEM.match(item.group()):
                break
            place = item.end()
    return place
