"""The rule `allowed-tools.neverFits`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.format.fields.allowed_tools import parse_allowed_tools
from prowess.format.fields.near_fields import tool_field
from prowess.format.fields.tool_patterns import never_fits
from prowess.format.skill import tool_texts
from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

if TYPE_CHECKING:
    from prowess.diagnostics import Location
    from prowess.format.document import Field


class AllowedToolsNeverFits(LintRule):
    """A token of `allowed-tools` or `disallowed-tools` that matches no tool call.

    What it does:
        Checks each token of both fields against the calls that the token could match. Misspelled names of the fields
        are checked too.

    Why it matters:
        In `allowed-tools`, such a token permits no call: the calls are refused, or the user is asked. In
        `disallowed-tools`, such a token refuses no call: the calls run.

    Example:
        `allowed-tools: bash Bash(FOO=1 make) WebFetch(https://example.com) mcp__*`

    Instead:
        `allowed-tools: Bash Bash(make *) WebFetch(domain:example.com) mcp__server__*`
    """

    meta = RuleMeta(
        id="allowed-tools.neverFits",
        order=66,
        most=20,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING, lenient=WARNING),
        summary="Each token of allowed-tools can match a call.",
        source="Claude Code documentation, permissions",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each token that matches no call."""
        for field in subject.document.fields:
            meant = tool_field(field.key)
            # A token of `disallowed-tools` that is not understood refuses more, not less. So "matches no call" could be
            # wrong there.
            verdict = "does not mean what it seems to" if meant == "disallowed-tools" else "matches no call"
            for text in (tool_texts(field) if meant is not None else None) or ():
                for token in parse_allowed_tools(text).tokens:
                    reason = never_fits(token, refuses=meant == "disallowed-tools")
                    if reason is not None:
                        place = _place(field, str(token))
                        yield self.meta.found(f"{str(token)[:80]} {verdict}: {reason}", place)


def _place(field: Field, token: str) -> Location:
    start = field.origin.text.find(token, field.value.start, field.value.end)
    return field.location if start < 0 else field.origin.location(start, start + len(token))
