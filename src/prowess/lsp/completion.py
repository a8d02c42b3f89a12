"""What may be written next in the front matter: fields that the profile knows, names of tools, values of a closed list.

Front matter is rarely whole YAML while somebody types, so its lines are looked at and not its values.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from lsprotocol import types

from prowess.format.fields.allowed_tools import parse_allowed_tools
from prowess.format.fields.frontmatter_schema import frontmatter_schema
from prowess.format.limits import FIELDS
from prowess.lsp.explanations import FIELD_MEANINGS, TOOL_MEANINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prowess.lsp.analysis import Analysis

TRIGGERS = (" ", ",", ":")
_KEY = re.compile(r"([^\W\d][\w.-]*)[ \t]*:(?:[ \t]+|$)")
_BEGUN_KEY = re.compile(r"[\w-]*$")
_BEGUN_WORD = re.compile(r"[^\s,()\[\]\"']*$")
_ITEM = re.compile(r"\s*-[ \t]+")
_TOOL_FIELDS = ("allowed-tools", "disallowed-tools")
_NESTED = ("metadata", "hooks", "scope", "execution")  # fields whose value begins on the next line
_MOST_LINES = 2000  # of front matter that are looked at


def completions(analysis: Analysis, position: types.Position) -> list[types.CompletionItem]:
    """Return what fits at a position, most likely first; nothing in the body."""
    line, column = analysis.lines.place(position)
    lines = _front_matter(analysis)
    if line not in lines:
        return []
    before = analysis.lines.line(line)[: column - 1]
    if _BEGUN_KEY.fullmatch(before):
        return _items(analysis, position, before, _fields(analysis, lines, line), types.CompletionItemKind.Property)
    key, value = _enclosing(analysis, lines, line, before)
    if key in _TOOL_FIELDS and value.count("(") <= value.count(")"):
        kind, words = types.CompletionItemKind.Function, _tools(value)
    else:
        kind, words = types.CompletionItemKind.Value, _values(analysis, key)
    begun = _BEGUN_WORD.search(value)
    return _items(analysis, position, begun[0] if begun else "", words, kind)


def _front_matter(analysis: Analysis) -> range:
    """The 1-based lines of the front matter; where nothing closes it, up to the end."""
    source, first = analysis.document.front_matter, analysis.document.front_matter_line
    if first == 1:  # nothing opens it: behind a fence it begins on the second line or later
        return range(0)
    last = len(analysis.lines) if source is None else first + source.count("\n")
    return range(first, min(last, first + _MOST_LINES) + 1)


def _fields(analysis: Analysis, lines: range, here: int) -> Iterator[tuple[str, str, str]]:
    written = {found[1] for at in lines if at != here and (found := _KEY.match(analysis.lines.line(at))) is not None}
    known = analysis.judgement.profile.known_fields
    for field in (*FIELDS, *sorted(known - set(FIELDS))):
        if field in known and field not in written:
            after = ":\n  " if field in _NESTED else ": "
            yield field, FIELD_MEANINGS.get(field, ""), f"{field}{after}"


def _enclosing(analysis: Analysis, lines: range, here: int, before: str) -> tuple[str, str]:
    """Return the top-level key that a line belongs to, and what of its value stands before the cursor on the line."""
    found = _KEY.match(before)
    if found is not None:
        return found[1], before[found.end() :]
    item = _ITEM.match(before)
    value = before[item.end() :] if item else before
    for at in range(here - 1, lines.start - 1, -1):
        text = analysis.lines.line(at)
        if text[:1] not in {"", " ", "\t", "-", "#"}:
            found = _KEY.match(text)
            return (found[1], value) if found else ("", value)
    return "", value


def _tools(value: str) -> Iterator[tuple[str, str, str]]:
    begun = _BEGUN_WORD.search(value)
    done = value[: begun.start()] if begun else value
    written = {token.name for token in parse_allowed_tools(done.strip().rstrip(",").strip("[\"'")).tokens}
    for name, meaning in TOOL_MEANINGS.items():
        if name not in written:
            yield name, meaning, name


def _values(analysis: Analysis, key: str) -> Iterator[tuple[str, str, str]]:
    if key == "name":
        name = os.path.basename(os.path.dirname(analysis.path))
        yield name, "the name of the directory", name
        return
    properties = frontmatter_schema(analysis.judgement.profile)["properties"]
    schema = properties.get(key) if isinstance(properties, dict) else None
    for value in (schema or {}).get("enum", ()):
        if isinstance(value, str):
            yield value, FIELD_MEANINGS.get(key, ""), value


def _items(
    analysis: Analysis,
    position: types.Position,
    begun: str,
    words: Iterable[tuple[str, str, str]],
    kind: types.CompletionItemKind,
) -> list[types.CompletionItem]:
    """Items that replace what is begun; the client filters."""
    line, column = analysis.lines.place(position)
    where = types.Range(start=analysis.lines.position(line, column - len(begun)), end=position)
    return [
        types.CompletionItem(
            label=label,
            kind=kind,
            documentation=types.MarkupContent(kind=types.MarkupKind.Markdown, value=meaning) if meaning else None,
            sort_text=f"{at:03}",
            filter_text=label,  # some clients filter nothing where an edit is given without it
            text_edit=types.TextEdit(range=where, new_text=text.replace("\n", analysis.lines.line_break)),
        )
        for at, (label, meaning, text) in enumerate(words)
    ]
