"""Parse the descriptions of a function and its parameters from a docstring in Google, NumPy or reST style."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping

_GOOGLE = r"(Args|Arguments|Parameters|Params|Returns?|Yields?|Raises|Examples?|Notes?|Attributes|See Also|Warnings?):"
_GOOGLE_ENTRY = r"(?P<names>\*{0,2}\w+(?:, *\*{0,2}\w+)*)(?: *\([^)]*\))? *: *(?P<text>.*)"
_NUMPY_UNDERLINE = r"-{3,}"
_NUMPY_ENTRY = r"(?P<names>\*{0,2}\w+(?:, *\*{0,2}\w+)*)(?: *:.*)?"
_FIELD = r":(?P<kind>\w+)(?: +(?P<rest>[^:]*))?:(?: +(?P<text>.*))?"
_PARAMETERS = frozenset({"args", "arguments", "parameters", "params", "other parameters"})
_PARAMETER_FIELDS = frozenset({"param", "parameter", "arg", "argument", "key", "keyword"})


class Docstring(Struct, frozen=True, kw_only=True):
    """A docstring: the paragraphs before the first section, and one-line descriptions of parameters by name."""

    text: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)


def parse_docstring(source: str | None) -> Docstring:
    """Parse a docstring. Lines outside of known sections belong to the text."""
    lines = inspect.cleandoc(source or "").split("\n")
    text: list[str] = []
    parameters: dict[str, str] = {}
    index = 0
    while index < len(lines):
        line = lines[index]
        if match := re.fullmatch(_GOOGLE, line.rstrip()):
            end = _end_of_indented(lines, index + 1)
            if match[1].lower() in _PARAMETERS:
                _read_entries(lines[index + 1 : end], _GOOGLE_ENTRY, parameters)
        elif index + 1 < len(lines) and line.strip() and re.fullmatch(_NUMPY_UNDERLINE, lines[index + 1].strip()):
            end = _end_of_numpy(lines, index + 2)
            if line.strip().lower() in _PARAMETERS:
                _read_entries(lines[index + 2 : end], _NUMPY_ENTRY, parameters)
        elif match := re.fullmatch(_FIELD, line.rstrip()):
            end = _end_of_indented(lines, index + 1, blank=False)
            words = (match["rest"] or "").split()
            if match["kind"] in _PARAMETER_FIELDS and words:
                # In `:param int depth: text`, the type precedes the name.
                parameters[words[-1].lstrip("*")] = _joined([match["text"] or "", *lines[index + 1 : end]])
        else:
            text.append(line)
            end = index + 1
        index = end
    return Docstring(text=re.sub(r"\n{3,}", "\n\n", "\n".join(text)).strip(), parameters=parameters)


def _end_of_indented(lines: list[str], start: int, *, blank: bool = True) -> int:
    end = start
    while end < len(lines) and (lines[end].startswith((" ", "\t")) or (blank and not lines[end].strip())):
        end += 1
    return end


def _end_of_numpy(lines: list[str], start: int) -> int:
    """Return the line index of the next underlined heading."""
    for index in range(start, len(lines) - 1):
        if lines[index].strip() and re.fullmatch(_NUMPY_UNDERLINE, lines[index + 1].strip()):
            return index
    return len(lines)


def _read_entries(lines: list[str], entry: str, parameters: dict[str, str]) -> None:
    """Parse entries `name: text` with continuation lines. Entries are the lines with the smallest indentation."""
    depth = min((_indent(line) for line in lines if line.strip()), default=0)
    names: list[str] = []
    texts: list[str] = []
    for line in [*lines, ""]:
        match = re.fullmatch(entry, line.strip()) if line.strip() and _indent(line) == depth else None
        if match is None:
            texts.append(line)
            continue
        _keep(names, texts, parameters)
        names = [name.strip().lstrip("*") for name in match["names"].split(",")]
        texts = [match.groupdict().get("text") or ""]
    _keep(names, texts, parameters)


def _keep(names: list[str], texts: list[str], parameters: dict[str, str]) -> None:
    for name in names:
        parameters[name] = _joined(texts)


def _joined(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
