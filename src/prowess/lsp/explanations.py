"""Hover, outline and completion for a SKILL.md.

A hover shows the findings at a position, each with the page of its rule, and the meaning of the field at that position.
The outline lists the fields, then the headings.

Texts of a document are escaped, so that Markdown in them is shown as plain text.

Completion offers front matter fields that the profile knows, names of tools, and values of a closed list. While a
person types, front matter is rarely valid YAML, so completion uses the lines of text and not the parsed values.
"""

from __future__ import annotations

import os
import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from lsprotocol import types

from prowess._internal.markdown import outline
from prowess._internal.text.terminal_text import printable, printable_line
from prowess.format.fields.allowed_tools import parse_allowed_tools
from prowess.format.fields.frontmatter_schema import frontmatter_schema
from prowess.format.limits import FIELDS
from prowess.lint import RULES
from prowess.lint.rule_page import rule_page
from prowess.lsp.analysis import reported, shown_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from prowess.diagnostics import Diagnostic, Location
    from prowess.format.document import Field
    from prowess.lsp.analysis import Analysis

_MARKDOWN = re.compile(r"[\\`*_{}\[\]()#+.!|<>~&-]")
_MOST_SHOWN = 5  # findings at one place
_MOST_SYMBOLS = 1000
_LONGEST_SYMBOL = 200

# Agent Skills specification, frontmatter; agent skills platform, YAML frontmatter fields.
FIELD_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "name": "Name of the skill: 1 to 64 lowercase letters, digits and single hyphens, like its directory.",
        "description": "What the skill does and when to use it, in at most 1024 characters. Agents choose by it.",
        "license": "The licence, by its name or the name of a file in the skill.",
        "compatibility": "Requirements on the environment, in at most 500 characters.",
        "metadata": "Further data, as keys and strings.",
        "allowed-tools": "Tools that the skill may use without asking: `Name` or `Name(pattern)`, separated by spaces.",
        "model": "The model that carries out the skill; `inherit` or no value means the host's model.",
        "context": "`inherit`, or `fork`: a sub-agent that does not see the conversation.",
        "agent": "The type of the sub-agent, with `context: fork`.",
        "hooks": "Scripts that run before and after: `pre`, `post`, and events such as `PreToolUse`.",
        "scope": "Where the skill is visible: `agents`, `tenants`, `environments`; all must match.",
        "execution": "Limits and preferences: `mode`, `max-iterations`, `sandbox`, `network` and others.",
        "priority": "An integer that orders equally suitable skills; defaults to 0.",
        "tags": "At most 64 short texts to filter by.",
        "arguments": "Names of the arguments that the skill takes, as a list or one text.",
        "argument-hint": "Hint shown to a user who types the skill's command.",
        "paths": "Patterns of files that the skill applies to.",
        "disable-model-invocation": "`true`: only a user may invoke the skill.",
        "user-invocable": "`false`: only a model may invoke the skill.",
        "when_to_use": "More on when to use the skill, after the description.",
        "disallowed-tools": "Tools that are taken away while the skill is active.",
        "effort": "Reasoning effort of the model while it carries out the skill.",
        "shell": "The shell for commands whose output the body inserts.",
    }
)

# The builtin tools of `prowess.tools`, and common tool names of other hosts.
TOOL_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "Bash": "Run commands. `Bash(git:*)` allows commands that begin with `git`.",
        "Read": "Read files.",
        "Write": "Write whole files.",
        "Edit": "Change parts of files.",
        "Glob": "Find files by name.",
        "Grep": "Find text in files.",
        "WebFetch": "Read one page of the web. `WebFetch(domain:example.com)` allows one site.",
        "WebSearch": "Search the web.",
        "NotebookEdit": "Change cells of a notebook.",
        "Task": "Hand a task to a sub-agent.",
        "TodoWrite": "Keep a to-do list.",
        "Skill": "Load other skills.",
    }
)


def hover(analysis: Analysis, position: types.Position) -> types.Hover | None:
    """Return the hover text at a position, or None if there is neither a finding nor a known field."""
    place = analysis.lines.place(position)
    found = [one for one in analysis.findings if _covers(shown_at(one, analysis), position)]
    parts = [finding_page(one, analysis) for one in found[:_MOST_SHOWN]]
    field = next((one for one in analysis.document.fields if _is_on_key(one, place)), None)
    if field is not None and field.key in FIELD_MEANINGS:
        parts.append(f"**{field.key}**\n\n{FIELD_MEANINGS[field.key]}")
    if not parts:
        return None
    return types.Hover(contents=types.MarkupContent(kind=types.MarkupKind.Markdown, value="\n\n---\n\n".join(parts)))


def finding_page(found: Diagnostic, analysis: Analysis) -> str:
    """Return a finding, with the message shown in the buffer, and the page of its rule, as Markdown."""
    head = f"**{found.rule}** ({found.severity.value}): {escaped(reported(found, analysis).message)}"
    if found.rule not in RULES:
        return head
    rule = rule_page(found.rule)
    return "\n\n".join((head, rule.summary, *(f"**{title}**\n\n{text}" for title, text in rule.sections)))


def escaped(text: str) -> str:
    """Escape a text so that Markdown shows it unchanged."""
    return _MARKDOWN.sub(r"\\\g<0>", printable(text))


def _covers(where: types.Range, position: types.Position) -> bool:
    start, end = (where.start.line, where.start.character), (where.end.line, where.end.character)
    return start <= (position.line, position.character) <= end


def _is_on_key(field: Field, place: tuple[int, int]) -> bool:
    key = field.key_location
    return key.line == place[0] and key.column <= place[1] <= (key.end_column or key.column)


def symbols(analysis: Analysis) -> list[types.DocumentSymbol]:
    """Return the fields, then the headings, each in the order of the file, without nesting."""
    document = analysis.document
    found = [
        _symbol(analysis, field.key, field.key_location, types.SymbolKind.Property)
        for field in document.fields[:_MOST_SYMBOLS]
    ]
    for heading in outline(document.body).headings[:_MOST_SYMBOLS]:
        title = document.body[heading.start : heading.end].strip()
        start = document.body_offset + heading.start
        place = document.origin.location(start, start + len(title))
        name = title.partition("\n")[0].strip("# \t") or title
        found.append(_symbol(analysis, name, place, types.SymbolKind.String))
    return found


def _symbol(analysis: Analysis, name: str, place: Location, kind: types.SymbolKind) -> types.DocumentSymbol:
    where = analysis.lines.range_of(place)
    return types.DocumentSymbol(
        name=printable_line(name[:_LONGEST_SYMBOL]) or "-", kind=kind, range=where, selection_range=where
    )


TRIGGERS = (" ", ",", ":")
_KEY = re.compile(r"([^\W\d][\w.-]*)[ \t]*:(?:[ \t]+|$)")
_BEGUN_KEY = re.compile(r"[\w-]*$")
_BEGUN_WORD = re.compile(r"[^\s,()\[\]\"']*$")
_ITEM = re.compile(r"\s*-[ \t]+")
_TOOL_FIELDS = ("allowed-tools", "disallowed-tools")
_NESTED = ("metadata", "hooks", "scope", "execution")  # fields whose value begins on the next line
_MOST_LINES = 2000  # limit on front matter lines that are read


def completions(analysis: Analysis, position: types.Position) -> list[types.CompletionItem]:
    """Return the completions at a position, most likely first; none in the body."""
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
    """Return the 1-based lines of the front matter; up to the end of the file if it is not closed."""
    source, first = analysis.document.front_matter, analysis.document.front_matter_line
    if first == 1:  # no opening fence: front matter after a fence begins on line 2 or later
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
    """Return the top-level key that a line belongs to, and the part of its value on this line before the cursor."""
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
    """Return items that replace the begun word; filtering is left to the client."""
    line, column = analysis.lines.place(position)
    where = types.Range(start=analysis.lines.position(line, column - len(begun)), end=position)
    return [
        types.CompletionItem(
            label=label,
            kind=kind,
            documentation=types.MarkupContent(kind=types.MarkupKind.Markdown, value=meaning) if meaning else None,
            sort_text=f"{at:03}",
            filter_text=label,  # without it, some clients do not filter items that have a text edit
            text_edit=types.TextEdit(range=where, new_text=text.replace("\n", analysis.lines.line_break)),
        )
        for at, (label, meaning, text) in enumerate(words)
    ]
