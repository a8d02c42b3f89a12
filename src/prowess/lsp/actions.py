"""What an editor may apply: the fix of each finding, and all safe fixes at once.

A fix that may change the meaning is offered by itself and says so; "fix all" never takes one. What it gives is what
`prowess check --fix` would write, as far as a few rounds of it go.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from lsprotocol import types

from prowess.diagnostics import FixSafety
from prowess.fix import fix_document
from prowess.lsp.analysis import concerns, reported

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument
    from prowess.lsp.analysis import Analysis

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.prowess"
_MOST_OFFERED = 50
_MOST_ROUNDS = 8  # of checks for "fix all"; where fixes are in each other's way it can be asked for again


def actions(analysis: Analysis, where: types.Range, only: Sequence[str], *, versioned: bool) -> list[types.CodeAction]:
    """Return what can be done about the findings in a range.

    `only` are the kinds that the client asks for, all where it is empty.
    `versioned`: the client takes edits that say which version they are for.
    """
    offered: list[types.CodeAction] = []
    if _is_wanted(types.CodeActionKind.QuickFix.value, only):
        offered += _quick_fixes(analysis, where, versioned=versioned)
    if _is_wanted(FIX_ALL, only) and any(_is_safe(found) for found in analysis.findings):
        after, count = _all_fixed(analysis)
        if after != analysis.text:
            edit = workspace_edit(analysis, [analysis.lines.replacement(analysis.text, after)], versioned=versioned)
            offered.append(types.CodeAction(title=f"Fix all that is safe ({count})", kind=FIX_ALL, edit=edit))
    return offered


def workspace_edit(analysis: Analysis, edits: list[types.TextEdit], *, versioned: bool) -> types.WorkspaceEdit:
    """Return the edits of one buffer."""
    if versioned:
        return types.WorkspaceEdit(document_changes=[document_edit(analysis, edits)])
    return types.WorkspaceEdit(changes={analysis.uri: edits})


def document_edit(analysis: Analysis, edits: list[types.TextEdit]) -> types.TextDocumentEdit:
    """Return the edits of one buffer, for the version that was looked at."""
    document = types.OptionalVersionedTextDocumentIdentifier(uri=analysis.uri, version=analysis.version)
    return types.TextDocumentEdit(text_document=document, edits=list(edits))


@lru_cache(maxsize=2)  # editors ask at each move of the cursor
def _all_fixed(analysis: Analysis) -> tuple[str, int]:
    """Return the text with every safe fix, and how many there are."""
    rounds = iter(range(_MOST_ROUNDS))

    def check(document: SkillDocument) -> list[Diagnostic]:
        return [] if next(rounds, None) is None else analysis.findings_of(document)

    fixed = fix_document(analysis.text.encode(), analysis.read, check)
    return fixed.data.decode(), len(fixed.fixed)


def _quick_fixes(analysis: Analysis, where: types.Range, *, versioned: bool) -> Iterator[types.CodeAction]:
    offered = 0
    for found in analysis.findings:
        if found.fix is None or not concerns(found, analysis):
            continue
        if not _touch(analysis.lines.range_of(found.location), where):
            continue
        safe = _is_safe(found)
        edits = [analysis.lines.edit(edit) for edit in found.fix.edits]
        title = f"{found.fix.title} ({found.rule}{'' if safe else '; changes the meaning'})"
        yield types.CodeAction(
            title=title[:1].upper() + title[1:],
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[reported(found, analysis)],
            is_preferred=safe,
            edit=workspace_edit(analysis, edits, versioned=versioned),
        )
        offered += 1
        if offered == _MOST_OFFERED:
            return


def _is_safe(found: Diagnostic) -> bool:
    return found.fix is not None and found.fix.safety is FixSafety.SAFE


def _is_wanted(kind: str, only: Sequence[str]) -> bool:
    return not only or any(kind == asked or kind.startswith(f"{asked}.") for asked in only)


def _touch(one: types.Range, other: types.Range) -> bool:
    return _point(one.start) <= _point(other.end) and _point(other.start) <= _point(one.end)


def _point(position: types.Position) -> tuple[int, int]:
    return position.line, position.character
