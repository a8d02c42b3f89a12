"""Findings as commands of GitHub Actions, which shows each beside its line in a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import printable_line
from prowess.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.report.checked import CheckedSkill

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def github_lines(skills: Sequence[CheckedSkill]) -> Iterator[str]:
    """Yield one command a finding. Nothing that a file says can begin a command or add a property to one."""
    for skill in skills:
        for found in skill.diagnostics:
            properties = ",".join(f"{name}={_property(value)}" for name, value in _properties(found))
            yield f"::{_COMMANDS[found.severity]} {properties}::{_data(found.message)}"


def _properties(found: Diagnostic) -> Iterator[tuple[str, str]]:
    location = found.location
    if location.path is not None:
        yield "file", location.path
        yield "line", str(location.line)
        if location.end_line in {None, location.line}:  # columns of two lines are refused
            yield "col", str(location.column)
        if location.end_line is not None:
            yield "endLine", str(location.end_line)
        if location.end_line == location.line and location.end_column is not None:
            yield "endColumn", str(max(location.end_column - 1, location.column))  # the last one, not the one behind it
    yield "title", found.rule


def _data(text: str) -> str:
    return printable_line(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
