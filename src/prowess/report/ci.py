"""Findings for CI servers: commands of GitHub Actions, and JUnit XML."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import printable_line
from prowess.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.report.checked import CheckedSkill

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def github_lines(skills: Sequence[CheckedSkill]) -> Iterator[str]:
    """Yield one command a finding, which GitHub shows beside its line in a pull request.

    No text of a file can begin a command or add a property to one.
    """
    for skill in skills:
        for found in skill.diagnostics:
            properties = ",".join(_properties(found))
            yield f"::{_COMMANDS[found.severity]} {properties}::{_data(found.message)}"


def _properties(found: Diagnostic) -> Iterator[str]:
    location = found.location
    if location.path is not None:
        yield f"file={_data(location.path).replace(':', '%3A').replace(',', '%2C')}"
        yield f"line={location.line}"
        if location.end_line in {None, location.line}:  # columns of two lines are refused
            yield f"col={location.column}"
        if location.end_line is not None:
            yield f"endLine={location.end_line}"
        if location.end_line == location.line and location.end_column is not None:
            yield f"endColumn={max(location.end_column - 1, location.column)}"  # the last one, not the one behind it
    yield f"title={found.rule}"


def _data(text: str) -> str:
    return printable_line(text).replace("%", "%25")


def junit_lines(skills: Sequence[CheckedSkill]) -> Iterator[str]:
    """Yield the document line by line: a test for each skill, failed if it has an error.

    Errors are in `failure`, all findings of a skill without one in `system-out`.
    """
    counts = f'tests="{len(skills)}" failures="{sum(not skill.valid for skill in skills)}"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="prowess" {counts}>'
    yield f'  <testsuite name="prowess check" {counts} errors="0" skipped="0">'
    for skill in skills:
        head = f'    <testcase classname="{_text(skill.path)}" name="{_text(skill.name or skill.path)}"'
        errors = [found for found in skill.diagnostics if found.severity is Severity.ERROR]
        others = [found for found in skill.diagnostics if found.severity is not Severity.ERROR]
        if not skill.diagnostics:
            yield f"{head}/>"
            continue
        yield f"{head}>"
        if errors:
            yield f'      <failure type="{_text(errors[0].rule)}" message="{_text(errors[0].message)}">'
            yield from map(_line, errors)
            yield "      </failure>"
        if others:
            yield "      <system-out>"
            yield from map(_line, others)
            yield "      </system-out>"
        yield "    </testcase>"
    yield "  </testsuite>"
    yield "</testsuites>"


def _line(found: Diagnostic) -> str:
    return _text(f"{found.location} {found.severity.value} {found.rule}: {found.message}")


def _text(text: str) -> str:
    # XML knows no way to write U+FFFE and U+FFFF; the other characters it refuses are escapes already.
    return html.escape(printable_line(text).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff"))
