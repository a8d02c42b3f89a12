"""The rule `body.structure`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_LONG = 50  # lines; a shorter body needs no structure


class BodyStructure(LintRule):
    """A long body without structure.

    What it does:
        Looks for headings, lists and code blocks in a body of more than 50 lines.

    Why it matters:
        A model finds a step faster under a heading.

    Example:
        Fifty lines of prose

    Instead:
        Headings, a list of steps, and commands in code blocks
    """

    meta = RuleMeta(
        id="body.structure",
        order=50,
        severities=Severities(boxxy=INFO),
        summary="A long body has headings, lists or code.",
        source="boxxy formal specification and implementation guide",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the start of the body."""
        if subject.lines > _LONG and not (subject.outline.headings or subject.outline.lists or subject.outline.blocks):
            yield self.meta.found("the body has no headings, lists or code; give it structure", subject.body_start)
