"""Findings as JUnit XML, which every CI server reads: a test for each skill, failed where an error was found."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import printable_line
from prowess.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.report.checked import CheckedSkill


def junit_lines(skills: Sequence[CheckedSkill]) -> Iterator[str]:
    """Yield the document line by line. Errors are in `failure`, all findings of a skill without one in `system-out`."""
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
