"""Descriptions as they are proposed: what may be one, and how it gets into the bytes of a SKILL.md."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import printable_line
from prowess.diagnostics import Fix, FixSafety, Severity
from prowess.errors import InvalidArgumentsError
from prowess.fix.applying import apply_fixes, changes_only_declared
from prowess.format.limits import MAX_DESCRIPTION_LENGTH
from prowess.format.parsing import parse_document
from prowess.format.profiles import profile_named
from prowess.format.reading import raw_findings
from prowess.format.source.scalars import scalar

if TYPE_CHECKING:
    from prowess.format.document import SkillDocument

_TAG = re.compile(r"<[/!?]?[A-Za-z]")  # some hosts put descriptions between tags


def tidied(text: str) -> str:
    """Return a proposed text in one line, with single spaces."""
    return " ".join(text.split())


def description_faults(text: str) -> tuple[str, ...]:
    """Return why a text may not be a description, as sentences; empty if it may."""
    found: list[str] = []
    if not text:
        found.append("it is empty")
    if len(text) > MAX_DESCRIPTION_LENGTH:
        found.append(f"it has {len(text)} characters, at most {MAX_DESCRIPTION_LENGTH} are allowed")
    if _TAG.search(text):
        found.append("it has a tag")
    if printable_line(text) != text:
        found.append("it has control or invisible characters")
    return tuple(found)


def with_description(data: bytes, description: str) -> bytes:
    """Return a SKILL.md with another description. Every other byte stays as it is.

    Raises:
        InvalidArgumentsError: the file has no description that can be replaced so.
    """
    before = parse_document(data)
    field = before.field("description")
    if field is None or not before.complete:
        raise _not_replaced()
    if field.text is not None and field.text.strip() == description:
        return data
    edit = field.origin.edit(field.key_node.end, field.value.end, f": {scalar(description)}")
    fix = Fix(safety=FixSafety.UNSAFE, title="change the description", edits=(edit,), changes=("description",))
    try:
        new = apply_fixes(data.decode(), [fix]).text.encode()
    except UnicodeError:
        raise _not_replaced() from None
    after = parse_document(new)
    if after.text_of("description") != description or not changes_only_declared(before, after, [fix]):
        raise _not_replaced()
    if _errors(after) > _errors(before):
        raise _not_replaced()
    return new


def _errors(document: SkillDocument) -> int:
    return sum(found.severity is Severity.ERROR for found in raw_findings(document, profile_named("spec")))


def _not_replaced() -> InvalidArgumentsError:
    problem = "the description of SKILL.md cannot be replaced without changing more; run prowess check on the skill"
    return InvalidArgumentsError((problem,))
