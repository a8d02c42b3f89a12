"""What a hover shows: the findings at a place, each with the page of its rule, and the field that stands there.

Texts of a document are quoted as text: whatever Markdown they hold is escaped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol import types

from prowess._internal.text.terminal_text import printable
from prowess.lint import RULES
from prowess.lint.rule_page import rule_page
from prowess.lsp.field_meanings import FIELD_MEANINGS
from prowess.lsp.published_diagnostics import reported, shown_at

if TYPE_CHECKING:
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import Field
    from prowess.lsp.analysis import Analysis

_MARKDOWN = re.compile(r"[\\`*_{}\[\]()#+.!|<>~&-]")
_MOST_SHOWN = 5  # findings at one place


def hover(analysis: Analysis, position: types.Position) -> types.Hover | None:
    """Return what is to be said at a position; None where that is nothing."""
    place = analysis.lines.place(position)
    found = [one for one in analysis.findings if _covers(shown_at(one, analysis), position)]
    parts = [finding_page(one, analysis) for one in found[:_MOST_SHOWN]]
    field = next((one for one in analysis.document.fields if _stands_at(one, place)), None)
    if field is not None and field.key in FIELD_MEANINGS:
        parts.append(f"**{field.key}**\n\n{FIELD_MEANINGS[field.key]}")
    if not parts:
        return None
    return types.Hover(contents=types.MarkupContent(kind=types.MarkupKind.Markdown, value="\n\n---\n\n".join(parts)))


def finding_page(found: Diagnostic, analysis: Analysis) -> str:
    """Return a finding as the buffer shows it, and the page of its rule, as Markdown."""
    head = f"**{found.rule}** ({found.severity.value}): {escaped(reported(found, analysis).message)}"
    page = page_of(found.rule)
    return f"{head}\n\n{page}" if page else head


def page_of(rule: str) -> str:
    """Return the page of a rule as Markdown, empty for a rule that has none."""
    if rule not in RULES:
        return ""
    found = rule_page(rule)
    parts = {
        "What it does": found.page.what,
        "Why it matters": found.page.why,
        "Example": found.page.example,
        "Instead": found.page.instead,
    }
    return "\n\n".join((found.summary, *(f"**{title}**\n\n{text}" for title, text in parts.items())))


def escaped(text: str) -> str:
    """Return a text as Markdown that shows it."""
    return _MARKDOWN.sub(r"\\\g<0>", printable(text))


def _covers(where: types.Range, position: types.Position) -> bool:
    start, end = (where.start.line, where.start.character), (where.end.line, where.end.character)
    return start <= (position.line, position.character) <= end


def _stands_at(field: Field, place: tuple[int, int]) -> bool:
    key = field.key_location
    return key.line == place[0] and key.column <= place[1] <= (key.end_column or key.column)
