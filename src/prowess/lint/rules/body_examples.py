"""The rule `body.examples`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_LONG = 50  # lines; a shorter body needs no such section
_WORDS = ("example", "e.g.", "for instance", "exemplo", "sample")


class BodyExamples(LintRule):
    """A long body without an example.

    What it does:
        Looks for a code block or a word such as "example" in a body of more than 50 lines.

    Why it matters:
        An example of input and output shows details that a description leaves open.

    Example:
        Fifty lines of rules

    Instead:
        `## Example`, with input and output
    """

    meta = RuleMeta(
        id="body.examples",
        order=48,
        severities=Severities(boxxy=INFO),
        summary="A long body has an example.",
        source="boxxy formal specification and implementation guide",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the start of the body."""
        if subject.lines > _LONG and not any(word in subject.lower for word in _WORDS) and not subject.outline.blocks:
            yield self.meta.found("the body has no example; show an input and its output", subject.body_start)
