"""Audit records as rows of a table for spreadsheets.

A spreadsheet evaluates a cell that begins with `=`, `+`, `-` or `@` as a formula, so such a text gets a leading
apostrophe. Control characters are escaped in every cell.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import json_text, printable_line
from prowess.audit.caller import CALLER_KEYS, SKILL_KEYS
from prowess.audit.selection import outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.audit.record import AuditRecord

_OF_RECORD = ("sequence", "at", "kind", "session_id", "call_id")
_OF_DATA = ("tool", "outcome", "code", "rule", "approval", "trigger", "policy_version")
COLUMNS = (*_OF_RECORD, *CALLER_KEYS, *SKILL_KEYS, *_OF_DATA, "data")
_FORMULA = frozenset("=+-@\uff1d\uff0b\uff0d\uff20\t\r")


def rows(records: Sequence[AuditRecord]) -> Iterator[list[str]]:
    """Yield the header and then each record, as strings that are safe in a spreadsheet."""
    yield list(COLUMNS)
    for record in records:
        values = [getattr(record, name) for name in _OF_RECORD]
        values += [record.data.get(name) for name in (*CALLER_KEYS, *SKILL_KEYS)]
        values += [outcome_of(record) if name == "outcome" else record.data.get(name) for name in _OF_DATA]
        yield [cell(value) for value in (*values, record.data)]


def cell(value: object) -> str:
    """Return a value as a text that is safe in a spreadsheet."""
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(item, str | None) for item in value):
        value = " ".join(item or "-" for item in value)
    text = (
        value if isinstance(value, str) else json_text(value) if isinstance(value, dict | list) else json.dumps(value)
    )
    text = printable_line(text)
    return f"'{text}" if text.lstrip()[:1] in _FORMULA or text[:1] in _FORMULA else text
