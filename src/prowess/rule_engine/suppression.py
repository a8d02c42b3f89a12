"""Comments in a SKILL.md that ask for silence: which there are, what they silence, and which silence nothing.

    # prowess: ignore name.matchesDirectory             in the frontmatter
    <!-- prowess: ignore reference.missing, lint -->    in the body
    <!-- prowess: ignore-file body.tokens -->           for the whole file

A comment holds for its own line, and where it stands alone on its lines also for the line below. Selectors are as for
`--ignore`. Whether a skill may ask at all is decided outside of it, by the caller; the family `security` may be closed
to it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.markdown import outline
from prowess._internal.yaml_reader import Mapping, Scalar, Sequence
from prowess.diagnostics import Severity
from prowess.format.rules.meta import Page, RuleMeta, Severities
from prowess.rule_engine.selection import names_rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prowess._internal.yaml_reader import Node
    from prowess.diagnostics import Diagnostic, Location
    from prowess.format.document import SkillDocument

UNUSED_SUPPRESSION = RuleMeta(
    id="suppression.unused",
    order=8,
    family="lint",
    severities=Severities(
        spec=Severity.WARNING, skillscraft=Severity.WARNING, boxxy=Severity.WARNING, claude_code=Severity.WARNING
    ),
    summary="A comment asking for silence silences something.",
    page=Page(
        what="Looks for comments that suppress a rule which finds nothing there.",
        why="A comment that outlived its reason hides the next fault.",
        example="A comment that suppresses `body.maxLines` in a body of 40 lines",
        instead="Remove it.",
    ),
)

_GUARDED = "security"
_MARK = "prowess:"
_ASKED = r"prowess:[ \t]*(ignore-file|ignore)[ \t]+([\w.,\- \t]+?)[ \t]*"
_IN_BODY = r"<!--\s*([^\n]*?)\s*-->\s*"
_IN_FIELDS = r"(?m)^(?:|[^\n]*?[ \t])#[ \t]*(prowess:[^\n]*)$"
_MAX_SUPPRESSIONS = 200


class Suppression(Struct, frozen=True, kw_only=True):
    """One selector of one comment; it holds from line `first` to line `last`, both included, 1-based."""

    selector: str
    first: int
    last: float
    location: Location

    def fits(self, found: Diagnostic, document: SkillDocument) -> bool:
        """Whether it silences a finding on `document`."""
        if found.location.path != document.path or not names_rule(self.selector, found.rule, found.family):
            return False
        return self.first <= found.location.line <= self.last


class Suppressed(Struct, frozen=True, kw_only=True):
    """The findings that are left, how many are silenced, and the suppressions that silenced nothing."""

    kept: tuple[Diagnostic, ...]
    silenced: int
    unused: tuple[Suppression, ...]


def suppressions(document: SkillDocument) -> tuple[Suppression, ...]:
    """Return what the comments of a document ask for, in order; comments in code and in values are none."""
    if _MARK not in document.text:
        return ()
    return tuple(_asked(document))[:_MAX_SUPPRESSIONS]


def suppress(
    findings: Iterable[Diagnostic], asked: tuple[Suppression, ...], document: SkillDocument, *, security: bool
) -> Suppressed:
    """Take away what is silenced; without `security` no finding of that family is."""
    kept, used, silenced = [], set(), 0
    for found in findings:
        fitting = [one for one in asked if one.fits(found, document)]
        used.update(fitting)
        if fitting and (security or found.family != _GUARDED):
            silenced += 1
        else:
            kept.append(found)
    return Suppressed(kept=tuple(kept), silenced=silenced, unused=tuple(one for one in asked if one not in used))


def _asked(document: SkillDocument) -> Iterator[Suppression]:
    text, front = document.text, document.front_matter or ""
    start = 0
    for _ in range(document.front_matter_line - 1):
        start = text.find("\n", start) + 1
    values = sorted(_scalars(field.value for field in document.fields))
    for found in re.finditer(_IN_FIELDS, front):
        at = start + found.start(1)
        if not any(begin <= at < end for begin, end in values):
            yield from _selectors(document, found[1], at, start + found.end())
    if _MARK in document.body:
        for begin, end in outline(document.body).comments:
            comment = re.fullmatch(_IN_BODY, document.body[begin:end])
            if comment is not None:
                stop = begin + len(document.body[begin:end].rstrip())
                yield from _selectors(document, comment[1], begin + document.body_offset, stop + document.body_offset)


def _selectors(document: SkillDocument, comment: str, start: int, end: int) -> Iterator[Suppression]:
    asked = re.fullmatch(_ASKED, comment.strip())
    if asked is None:
        return
    location = document.origin.location(start, end)
    text = document.text
    line_start, line_end = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    before, after = text[line_start:start], text[end : line_end if line_end >= 0 else len(text)]
    alone = not before.strip(" \t#") and not after.strip()
    first, last = location.line, (location.end_line or location.line) + alone
    for selector in re.split(r"[\s,]+", asked[2]):
        if asked[1] == "ignore-file":
            yield Suppression(selector=selector, first=1, last=float("inf"), location=location)
        elif selector:
            yield Suppression(selector=selector, first=first, last=last, location=location)


def _scalars(nodes: Iterable[Node]) -> Iterator[tuple[int, int]]:
    waiting = list(nodes)
    while waiting:
        match waiting.pop():
            case Scalar(start=start, end=end):
                yield start, end
            case Sequence(items=items):
                waiting += items
            case Mapping(entries=entries):
                waiting += [node for entry in entries for node in entry]
