"""Fixes of whole entries: move an unknown field under `metadata`, remove a repeated key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess._internal.yaml_reader import Mapping, Scalar
from prowess.diagnostics import Edit, Fix, FixSafety
from prowess.format.document import key_text, plain
from prowess.format.limits import CLAUDE_CODE_FIELDS
from prowess.format.source.scalars import double_quoted

if TYPE_CHECKING:
    from prowess._internal.yaml_reader import Node
    from prowess.format.document import Field, SkillDocument
    from prowess.format.source.source_text import SourceText


def move_under_metadata(document: SkillDocument, field: Field) -> Fix | None:
    """Return a fix that moves `field` under metadata without losing text; `None` if no such fix is obvious."""
    if not isinstance(field.value, Scalar) or not isinstance(field.key_node, Scalar) or field.repaired:
        return None
    if sum(other.key == field.key for other in document.fields) > 1:
        return None  # if one of two equal keys were moved, the other one would become the valid one
    key_start, key_column = field.origin.position(field.key_node.start)
    if key_column != 1:
        return None
    text = document.text
    line_end = _line_end(text, max(field.value.end - 1, field.key_node.end))
    key = text[field.key_node.start : field.key_node.end]
    value = field.source if "\n" not in field.source else double_quoted(field.value.text)
    rest = text[field.value.end : line_end] if "\n" not in field.source else ""
    entry = f"{key}: {value}{rest}".rstrip()
    metadata = document.field("metadata")
    edits: tuple[Edit, ...] | None = None
    if metadata is None:
        edits = (field.origin.edit(field.key_node.start, line_end, f"metadata:\n  {entry}"),)
    elif (place := _last_entry(metadata, field.key)) is not None:
        after, column = place
        insertion = field.origin.edit(after, after, f"\n{' ' * (column - 1)}{entry}")
        end_line, _ = field.origin.position(line_end)
        removal = Edit(line=key_start, column=1, end_line=end_line + 1, end_column=1, text="")
        edits = (insertion, removal)
    if edits is None:
        return None
    # A host that reads the field at top level ignores it under metadata, so moving such a field is unsafe.
    safety = FixSafety.UNSAFE if field.key in CLAUDE_CODE_FIELDS else FixSafety.SAFE
    return Fix(safety=safety, title="move it under metadata", edits=edits, changes=(field.key, "metadata"))


def _last_entry(metadata: Field, key: str) -> tuple[int, int] | None:
    """Return the end of the last line of metadata and the column of its entries; `None` if no entry can be added."""
    text = metadata.origin.text
    value = metadata.value
    if isinstance(value, Scalar) and not value.text.strip() and not value.style:
        return _line_end(text, metadata.key_node.end), 3
    if not isinstance(value, Mapping) or value.flow or not value.entries:
        return None
    if any(key_text(known, metadata.origin) == key for known, _ in value.entries):
        return None
    _, column = metadata.origin.position(value.start)
    return _line_end(text, max(value.end - 1, value.start)), column


def _line_end(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end


_REST = r"[ \t]*(?:[ \t]#[^\n]*)?(?=\n|\Z)"


def remove_second(origin: SourceText, first: Node, key: Node, value: Node) -> Fix | None:
    """Return a fix that removes an entry; `None` if its lines hold other text.

    The fix is safe if both values are equal.
    """
    text = origin.text
    end = max(value.end, key.end)
    if value.end <= key.end:
        end = text.find(":", key.end) + 1
    elif value.end > value.start and text[value.end - 1] == "\n":
        end = value.end - 1
    line_start = text.rfind("\n", 0, key.start) + 1
    if text[line_start : key.start].strip(" ") or not end or re.compile(_REST).match(text, end) is None:
        return None
    line, _ = origin.position(key.start)
    end_line, _ = origin.position(end)
    edit = Edit(line=line, column=1, end_line=end_line + 1, end_column=1, text="")
    if plain(first, origin) == plain(value, origin):
        return Fix(safety=FixSafety.SAFE, title="remove the repetition", edits=(edit,))
    return Fix(safety=FixSafety.UNSAFE, title="remove the second one", edits=(edit,))
