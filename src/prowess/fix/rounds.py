"""Fix one SKILL.md: check, apply what does not collide, check again, until nothing is left to apply.

A fix says what it changes (`Fix.changes`); everything else must read as before: every other field, and the body unless
an edit lies in it. That is looked at after each round by reading the result. A fix that breaks its word is left out,
and so is every fix of a text that cannot be read as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.diagnostics import FixSafety
from prowess.fix.applying import apply_fixes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from prowess.diagnostics import Diagnostic, Fix
    from prowess.format.document import SkillDocument

MAX_ROUNDS = 128  # more than the findings of one rule, which are at most 100
_FEWEST_ROUNDS = 8
_MAX_BYTES = 16 * 1024 * 1024  # read over all rounds, so that a huge file cannot hold up a check


class FixedDocument(Struct, frozen=True, kw_only=True):
    """The new bytes, what was fixed in the order it was, and the document and findings of the new bytes."""

    data: bytes
    fixed: tuple[Diagnostic, ...]
    document: SkillDocument
    findings: tuple[Diagnostic, ...]


def fix_document(
    data: bytes,
    read: Callable[[bytes], SkillDocument],
    check: Callable[[SkillDocument], Sequence[Diagnostic]],
    *,
    unsafe: bool = False,
) -> FixedDocument:
    """Apply the safe fixes of what `check` finds, with `unsafe` the others too; the file is not touched.

    `read` makes the document of bytes, `check` judges it. Fixes of other files than the document's are passed over.
    A file of more than 128 KiB with many faults may need another call.
    """
    document = read(data)
    findings = check(document)
    fixed: list[Diagnostic] = []
    refused: set[Fix] = set()
    for _ in range(min(MAX_ROUNDS, max(_FEWEST_ROUNDS, _MAX_BYTES // (len(data) + 1)))):
        usable = [found for found in findings if _is_usable(found, document, unsafe=unsafe)]
        wanted = [found for found in usable if found.fix not in refused]
        step = _step(data, document, wanted, read, refused) if wanted else None
        if step is None:
            break
        data, document = step.data, step.document
        fixed += step.fixed
        findings = check(document)
    return FixedDocument(data=data, fixed=tuple(fixed), document=document, findings=tuple(findings))


def keeps_its_word(before: SkillDocument, after: SkillDocument, fixes: Iterable[Fix]) -> bool:
    """Whether nothing reads differently from `before` but what `fixes` said they would change."""
    if not (before.complete and after.complete):
        return False
    fixes = tuple(fixes)
    changes = {field for fix in fixes for field in fix.changes}
    old, new = before.mapping(), after.mapping()
    if any(old.get(key) != new.get(key) for key in {*old, *new} - changes):
        return False
    in_body = any(edit.end_line >= before.body_line for fix in fixes for edit in fix.edits)
    return in_body or before.body == after.body


def _is_usable(found: Diagnostic, document: SkillDocument, *, unsafe: bool) -> bool:
    fix = found.fix
    if fix is None or found.location.path != document.path:
        return False
    return unsafe or fix.safety is FixSafety.SAFE


class _Step(Struct, frozen=True, kw_only=True):
    data: bytes
    document: SkillDocument
    fixed: list[Diagnostic]


def _step(
    data: bytes,
    document: SkillDocument,
    wanted: Sequence[Diagnostic],
    read: Callable[[bytes], SkillDocument],
    refused: set[Fix],
) -> _Step | None:
    """Apply as many fixes as go together, else the first that keeps its word; None where none does."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    fixes = list({found.fix: None for found in wanted if found.fix is not None})
    for attempt in (fixes, *([fix] for fix in fixes)):
        applied = apply_fixes(text, attempt)
        new = applied.text.encode("utf-8")
        if not applied.fixes or new == data:
            continue
        after = read(new)
        if keeps_its_word(document, after, applied.fixes):
            return _Step(data=new, document=after, fixed=[found for found in wanted if found.fix in applied.fixes])
        if len(attempt) == 1:
            refused.update(attempt)
    return None
