"""Write a SKILL.md from values, so that reading the text gives the values again.

Values are strings, lists and mappings of them, as the reader returns them; there are no numbers or booleans. The
written text is parsed once before it is returned, so a text with another meaning is never returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeGuard

from prowess._internal.yaml_reader import MAX_DEPTH
from prowess.diagnostics import Severity
from prowess.errors import InvalidArgumentsError
from prowess.format.parsing import parse_document
from prowess.format.source.scalars import double_quoted, scalar, type_beside_text

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIMPLE_KEY = 1000  # YAML 1.1, section 9.3: a longer key needs a question mark before it
_INDENT = "  "


def document_text(fields: Mapping[str, object], body: str = "") -> str:
    r"""Return a SKILL.md with these fields, in this order, and this body after the closing fence.

    Line breaks of the body become LF; line breaks in a field are kept.

        document_text({"name": "pdf", "metadata": {"version": "1.0"}}, "Body\n")
        # '---\nname: pdf\nmetadata:\n  version: "1.0"\n---\nBody\n'

    Raises:
        InvalidArgumentsError: a value is not a string, list or mapping; or no SKILL.md can contain it: a lone
            surrogate, NUL in the body, nested more than 20 levels deep, or too large.
    """
    text = "".join(("---\n", *(f"{line}\n" for line in _mapping(fields, 1, "")), "---\n"))
    lines = body.replace("\r\n", "\n").replace("\r", "\n")
    written = parse_document(text + lines)
    problems = tuple(fault.message for fault in written.diagnostics if fault.severity is Severity.ERROR)
    if not problems and (written.mapping() != _plain(fields) or written.body != lines):
        problems = ("the values do not survive being written as YAML; this is a defect, please report it",)
    if problems:
        raise InvalidArgumentsError(problems)
    return text + lines


def _mapping(values: Mapping[str, object], depth: int, where: str) -> Iterator[str]:
    for key, value in values.items():
        if not isinstance(key, str):
            raise _not_writable(f"the key {key!r}", where)
        place = f"{where}.{key}" if where else key
        shown = _scalar(key)
        if len(shown) > _SIMPLE_KEY:
            yield f"? {shown}"
            shown = ""
        nested = _collection(value, depth, place)
        if nested is None:
            yield f"{shown}: {_leaf(value, place)}"
        else:
            yield f"{shown}:"
            yield from (f"{_INDENT}{line}" for line in nested)


def _sequence(values: Sequence[object], depth: int, where: str) -> Iterator[str]:
    for number, value in enumerate(values):
        place = f"{where}[{number}]"
        nested = _collection(value, depth, place)
        if nested is None:
            yield f"- {_leaf(value, place)}"
        else:
            yield from (f"{_INDENT if at else '- '}{line}" for at, line in enumerate(nested))


def _collection(value: object, depth: int, where: str) -> Iterator[str] | None:
    """Return the lines of a non-empty collection, or `None` for any other value."""
    if not value or not _is_collection(value):
        return None
    if depth == MAX_DEPTH:
        raise InvalidArgumentsError((f"{where[:80]} is nested too deep: {MAX_DEPTH} levels are read",))
    return _mapping(value, depth + 1, where) if isinstance(value, Mapping) else _sequence(value, depth + 1, where)


def _leaf(value: object, where: str) -> str:
    if isinstance(value, str):
        return _scalar(value)
    if not _is_collection(value):
        raise _not_writable(f"a value of type {type(value).__name__}", where)
    return "{}" if isinstance(value, Mapping) else "[]"


def _scalar(text: str) -> str:
    """Write a scalar. A text that another reader would read as a number, date or boolean is quoted too."""
    return double_quoted(text) if text[:1].isdigit() or type_beside_text(text) else scalar(text)


def _is_collection(value: object) -> TypeGuard[Mapping[str, object] | Sequence[object]]:
    return isinstance(value, (Mapping, Sequence)) and not isinstance(value, (str, bytes, bytearray))


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, Sequence) and _is_collection(value) else value


def _not_writable(what: str, where: str) -> InvalidArgumentsError:
    place = f"in {where}" if where else "at the top"
    return InvalidArgumentsError((f"{what} {place} cannot be written; a SKILL.md holds texts, lists and mappings",))
