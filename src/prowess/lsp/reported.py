"""Findings as the diagnostics of the protocol."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lsprotocol import types

from prowess._internal.terminal_text import printable_line
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
    """Return one finding; one about another file of the skill stands at the start of the buffer and names the file."""
    message = printable_line(found.message)
    if concerns(found, analysis):
        where = analysis.lines.range_of(found.location)
    else:
        other = os.path.basename(found.location.path or "")
        message = f"{printable_line(other)}:{found.location.line}: {message}"
        where = types.Range(start=types.Position(line=0, character=0), end=types.Position(line=0, character=0))
    return types.Diagnostic(
        range=where, message=message, severity=_SEVERITIES[found.severity], code=found.rule, source=SOURCE
    )


def concerns(found: Diagnostic, analysis: Analysis) -> bool:
    """Whether the place of a finding lies in the buffer."""
    return found.location.path in {None, analysis.document.path}
