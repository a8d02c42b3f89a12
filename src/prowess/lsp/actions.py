"""Code actions and renames: the fix of each finding, all safe fixes at once, and a new name for the skill.

A fix that may change the meaning is offered separately, with a title that states this; "fix all" never includes such a
fix. "Fix all" gives the text that `prowess check --fix` gives, up to a limit of rounds.

Renaming a skill changes its name and its directory, which must agree. A rename on the name changes both if the client
can move files. If the directory is moved in the editor's file tree, the name is changed too.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.uris import from_fs_path

from prowess._internal.yaml_reader import Scalar
from prowess.diagnostics import FixSafety
from prowess.fix import fix_document
from prowess.format.name import name_faults, normalise
from prowess.format.source.scalars import double_quoted, scalar, type_beside_text
from prowess.lsp.analysis import concerns, findings, reported

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.format.document import Field, SkillDocument
    from prowess.lsp.analysis import Analysis

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.prowess"
_MOST_OFFERED = 50
_MOST_ROUNDS = 8  # checks by one "fix all"; a second one applies fixes that are left because of conflicts


def actions(analysis: Analysis, where: types.Range, only: Sequence[str], *, versioned: bool) -> list[types.CodeAction]:
    """Return the code actions for the findings in a range.

    `only` are the kinds that the client requests; if it is empty, all are offered. `versioned`: the client accepts
    edits that name the version of the document.
    """
    offered: list[types.CodeAction] = []
    if _is_wanted(types.CodeActionKind.QuickFix.value, only):
        offered += _quick_fixes(analysis, where, versioned=versioned)
    if _is_wanted(FIX_ALL, only) and any(_is_safe(found) for found in analysis.findings):
        after, count = _all_fixed(analysis)
        if after != analysis.text:
            edit = workspace_edit(analysis, [analysis.lines.replacement(analysis.text, after)], versioned=versioned)
            offered.append(types.CodeAction(title=f"Apply all safe fixes ({count})", kind=FIX_ALL, edit=edit))
    return offered


def workspace_edit(analysis: Analysis, edits: list[types.TextEdit], *, versioned: bool) -> types.WorkspaceEdit:
    """Return edits of one buffer as a workspace edit."""
    if versioned:
        return types.WorkspaceEdit(document_changes=[document_edit(analysis, edits)])
    return types.WorkspaceEdit(changes={analysis.uri: edits})


def document_edit(analysis: Analysis, edits: list[types.TextEdit]) -> types.TextDocumentEdit:
    """Return edits of one buffer that apply to the analysed version."""
    document = types.OptionalVersionedTextDocumentIdentifier(uri=analysis.uri, version=analysis.version)
    return types.TextDocumentEdit(text_document=document, edits=list(edits))


@lru_cache(maxsize=2)  # editors ask at each cursor move
def _all_fixed(analysis: Analysis) -> tuple[str, int]:
    """Return the text with every safe fix applied, and the number of fixes."""
    rounds = iter(range(_MOST_ROUNDS))

    def check(document: SkillDocument) -> list[Diagnostic]:
        return [] if next(rounds, None) is None else findings(document, analysis.judgement, analysis.silence)

    fixed = fix_document(analysis.text.encode(), analysis.read, check)
    return fixed.data.decode(), len(fixed.fixed)


def _quick_fixes(analysis: Analysis, where: types.Range, *, versioned: bool) -> Iterator[types.CodeAction]:
    offered = 0
    for found in analysis.findings:
        if found.fix is None or not concerns(found, analysis):
            continue
        place = analysis.lines.range_of(found.location)
        if _point(where.end) < _point(place.start) or _point(place.end) < _point(where.start):
            continue
        safe = _is_safe(found)
        edits = [analysis.lines.edit(edit) for edit in found.fix.edits]
        title = f"{found.fix.title} ({found.rule}{'' if safe else '; may change the meaning'})"
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


def _point(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def renamed_range(analysis: Analysis, position: types.Position) -> types.PrepareRenamePlaceholder | None:
    """Return the range that a rename at a position would replace, or None if the position is not on the name."""
    field = _name(analysis)
    if field is None or field.text is None:
        return None
    line, column = analysis.lines.place(position)
    key, value = field.key_location, field.location
    if line != key.line and not value.line <= line <= (value.end_line or value.line):
        return None
    if line == key.line and column < key.column:
        return None
    return types.PrepareRenamePlaceholder(range=analysis.lines.range_of(value), placeholder=field.text.strip())


def rename(analysis: Analysis, name: str, *, moves: bool, versioned: bool) -> types.WorkspaceEdit:
    """Return the edits that give the skill a new name. If `moves`, they rename its directory too.

    Raises:
        JsonRpcInvalidParams: the name is not valid in the profile, the target path exists, or the front matter has
            no name that could be replaced.
    """
    name = normalise(name)
    field = _name(analysis)
    if field is None:
        raise JsonRpcInvalidParams(message="the front matter has no name to replace; fix it first")
    if (fault := _fault(analysis, name)) is not None:
        raise JsonRpcInvalidParams(message=fault)
    edits = [_edit(analysis, field, name)]
    directory = os.path.dirname(analysis.path)
    target = os.path.join(os.path.dirname(directory), name)
    if not moves or os.path.basename(directory) == name:
        return workspace_edit(analysis, edits, versioned=versioned)
    if os.path.lexists(target) and not _is_same(directory, target):
        raise JsonRpcInvalidParams(message=f"{target} exists already; choose another name or move it away")
    move = types.RenameFile(
        old_uri=analysis.uri.rpartition("/")[0],
        new_uri=from_fs_path(target) or "",
        options=types.RenameFileOptions(overwrite=False, ignore_if_exists=False),
    )
    return types.WorkspaceEdit(document_changes=[document_edit(analysis, edits), move])


def follow(analysis: Analysis, new_directory: str) -> types.TextEdit | None:
    """Return the edit that changes the name after its directory was moved.

    Return None if the name did not match the old directory, or the new directory's name is not a valid skill name.
    """
    field = _name(analysis)
    name = normalise(os.path.basename(new_directory.rstrip("/\\")))
    before = os.path.basename(os.path.dirname(analysis.path))
    if field is None or normalise(field.text or "") != normalise(before) or name == normalise(before):
        return None
    return None if _fault(analysis, name) is not None else _edit(analysis, field, name)


def may_move(directory: str, folders: Sequence[str]) -> bool:
    """Whether an editor can move a directory: no workspace folder is this directory or below it."""
    return not any(folder == directory or folder.startswith(f"{directory}{os.sep}") for folder in folders)


def _name(analysis: Analysis) -> Field | None:
    field = analysis.document.field("name") if analysis.document.complete else None
    if field is None or field.repaired or not isinstance(field.value, Scalar) or not field.source.strip():
        return None
    return field


def _fault(analysis: Analysis, name: str) -> str | None:
    if not name:
        return "a skill needs a name"
    faults = name_faults(name, ascii_only=analysis.judgement.profile.name_letters == "ASCII")
    return faults[0].message if faults else None


def _edit(analysis: Analysis, field: Field, name: str) -> types.TextEdit:
    source = field.source
    if source[0] in "\"'":
        text = f"{source[0]}{name}{source[0]}"
    else:
        text = double_quoted(name) if type_beside_text(name) is not None else scalar(name)
    if source[-1] == "\n":  # a block scalar ends with a line break
        text += "\n"
    return analysis.lines.edit(field.origin.edit(field.value.start, field.value.end, text))


def _is_same(one: str, other: str) -> bool:
    """Whether two paths are one directory. They may differ in spelling on a file system that ignores case."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
