"""The rule `body.steps`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_ORDER = ("first", "then", "finally")


class BodySteps(LintRule):
    """A procedure without numbered steps.

    What it does:
        Looks for a numbered list where the body says first, then and finally.

    Why it matters:
        Steps in a list are done one by one; steps in a paragraph are skipped.

    Example:
        First open the file, then ... finally ...

    Instead:
        `1. Open the file`
    """

    meta = RuleMeta(
        id="body.steps",
        order=51,
        severities=Severities(boxxy=INFO),
        summary="A procedure is a list of steps.",
        source="boxxy formal specification and implementation guide",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding where the body begins."""
        if all(word in subject.lower for word in _ORDER) and not any(
            subject.body[start : start + 1].isdigit() for start, _ in subject.outline.lists
        ):
            yield self.meta.found("this reads like a procedure; write its steps as a numbered list", subject.body_start)
