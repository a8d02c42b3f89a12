"""The outline of a SKILL.md: its fields, then its headings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from prowess._internal.markdown import outline
from prowess._internal.text.terminal_text import printable_line

if TYPE_CHECKING:
    from prowess.diagnostics import Location
    from prowess.lsp.analysis import Analysis

_MOST_SHOWN = 1000
_LONGEST = 200


def symbols(analysis: Analysis) -> list[types.DocumentSymbol]:
    """Return the fields and the headings, in the order of the file, without nesting."""
    document = analysis.document
    found = [
        _symbol(analysis, field.key, field.key_location, types.SymbolKind.Property)
        for field in document.fields[:_MOST_SHOWN]
    ]
    for heading in outline(document.body).headings[:_MOST_SHOWN]:
        title = document.body[heading.start : heading.end].strip()
        start = document.body_offset + heading.start
        place = document.origin.location(start, start + len(title))
        name = title.partition("\n")[0].strip("# \t") or title
        found.append(_symbol(analysis, name, place, types.SymbolKind.String))
    return found


def _symbol(analysis: Analysis, name: str, place: Location, kind: types.SymbolKind) -> types.DocumentSymbol:
    where = analysis.lines.range_of(place)
    return types.DocumentSymbol(
        name=printable_line(name[:_LONGEST]) or "-", kind=kind, range=where, selection_range=where
    )
