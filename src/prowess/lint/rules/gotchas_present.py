"""The rule `gotchas-present`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_LONG = 50  # lines
_WORDS = (
    "gotcha",
    "caveat",
    "pitfall",
    "known issue",
    "known problem",
    "limitation",
    "edge case",
    "common mistake",
    "common error",
    "common problem",
    "common issue",
    "troubleshoot",
    "armadilha",
    "cuidado",
    "\u6ce8\u610f",
    "\u5e38\u89c1",
)


class GotchasPresent(LintRule):
    """A longer skill without a section on known problems.

    What it does:
        Looks for a heading on gotchas, caveats, pitfalls, limitations, edge cases, known issues or troubleshooting if
        the body has more than 50 lines.

    Why it matters:
        A model cannot know about surprises: a field that is empty on weekends, a command that needs a flag.

    Example:
        Sixty lines on an export, without a word on the time zone of its dates.

    Instead:
        Add a section `## Gotchas` with the edge cases that cost you time.
    """

    meta = RuleMeta(
        id="gotchas-present",
        order=15,
        severities=Severities(skillscraft=INFO),
        summary="A long body has a section on gotchas.",
        source="skillscraft specification reference, lint rules",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the start of the body."""
        if subject.lines <= _LONG:
            return
        if any(word in subject.lower for word in _WORDS) and any(
            word in heading for heading in subject.headings for word in _WORDS
        ):
            return
        message = f"the body has {subject.lines} lines and no section on gotchas; add ## Gotchas with edge cases"
        yield self.meta.found(message, subject.body_start)
