"""Findings as the diagnostics of the protocol."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lsprotocol import types

from prowess._internal.text.terminal_text import printable_line
from prowess.diagnostics import Severity

if TYPE_CHECKING:
    from prowess.diagnostics import Diagnostic
    from prowess.lsp.analysis import Analysis

SOURCE = "prowess"
_MOST_REPORTED = 500  # a buffer with more has one cause
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def diagnostics(analysis: Analysis) -> list[types.Diagnostic]:
    """Return what is shown in the buffer."""
    return [reported(found, analysis) for found in analysis.findings[:_MOST_REPORTED]]


def reported(found: Diagnostic, analysis: Analysis) -> types.Diagnostic:
    """Return one finding; one about another file of the skill stands at the first line and names the file."""
    message = printable_line(found.message)
    if not concerns(found, analysis):
        message = f"{printable_line(os.path.basename(found.location.path or ''))}:{found.location.line}: {message}"
    return types.Diagnostic(
        range=shown_at(found, analysis),
        message=message,
        severity=_SEVERITIES[found.severity],
        code=found.rule,
        source=SOURCE,
    )


def shown_at(found: Diagnostic, analysis: Analysis) -> types.Range:
    """Return where a finding stands in the buffer: at its place, or at the first line if that is in another file."""
    if concerns(found, analysis):
        return analysis.lines.range_of(found.location)
    return types.Range(
        start=analysis.lines.position(1, 1), end=analysis.lines.position(1, len(analysis.lines.line(1)) + 1)
    )


def concerns(found: Diagnostic, analysis: Analysis) -> bool:
    """Whether the place of a finding lies in the buffer."""
    return found.location.path in {None, analysis.document.path}
