"""The fix for a key that is written twice: take away the second entry, which does not count anyway."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess.diagnostics import Edit, Fix, FixSafety
from prowess.format.document import plain

if TYPE_CHECKING:
    from prowess._internal.yaml_reader import Node
    from prowess.format.source.source_text import SourceText

_REST = re.compile(r"[ \t]*(?:[ \t]#[^\n]*)?(?=\n|\Z)")


def remove_second(origin: SourceText, first: Node, key: Node, value: Node) -> Fix | None:
    """Return the removal of the lines of an entry; None where they hold anything else.

    It is safe where both entries say the same, else a person has to choose.
    """
    text = origin.text
    end = max(value.end, key.end)
    if value.end <= key.end:
        end = text.find(":", key.end) + 1
    elif value.end > value.start and text[value.end - 1] == "\n":
        end = value.end - 1
    line_start = text.rfind("\n", 0, key.start) + 1
    if text[line_start : key.start].strip(" ") or not end or _REST.match(text, end) is None:
        return None
    line, _ = origin.position(key.start)
    end_line, _ = origin.position(end)
    edit = Edit(line=line, column=1, end_line=end_line + 1, end_column=1, text="")
    if plain(first, origin) == plain(value, origin):
        return Fix(safety=FixSafety.SAFE, title="remove the repetition", edits=(edit,))
    return Fix(safety=FixSafety.UNSAFE, title="remove the second one", edits=(edit,))
