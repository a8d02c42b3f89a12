"""Audit records as text lines that begin with `[AUDIT]` (platform requirements 003, script execution security)."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import printable_line
from prowess.audit.selection import outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.audit.record import AuditRecord


def audit_lines(record: AuditRecord) -> Iterator[str]:
    """Yield the lines of a record: skill, script or tool, user and time; then command and outcome, if it has them."""
    data = record.data
    skill, user = _text(data.get("skill")), _text(data.get("user"))
    acted = f"Script: {_text(data.get('path'))}" if "path" in data else f"Tool: {_text(data.get('tool'))}"
    yield _line(f"Skill: {skill} | {acted} | User: {user} | Time: {record.at[:19]}Z | Record: {record.kind}")
    command = data.get("command")
    if isinstance(command, list):
        yield _line(f"Command: {shlex.join(map(str, command))}")
    duration = data.get("duration_ms")
    took = f" | Duration: {duration / 1000:.1f}s" if isinstance(duration, int) else ""
    if "exit_code" in data:
        yield _line(f"Exit code: {data['exit_code']}{took}")
    elif (outcome := outcome_of(record)) is not None:
        reason = "".join(
            f" | {name}: {data[key]}" for name, key in (("Code", "code"), ("Rule", "rule")) if data.get(key)
        )
        yield _line(f"Outcome: {outcome}{took}{reason}")


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return "-" if value is None else str(value)


def _line(text: str) -> str:
    return f"[AUDIT] {printable_line(text)}"
