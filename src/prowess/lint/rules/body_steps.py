"""The rule `body.steps`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_ORDER = ("first", "then", "finally")


class BodySteps(LintRule):
    """A procedure without numbered steps.

    What it does:
        Looks for a numbered list if the body contains the words first, then and finally.

    Why it matters:
        Models follow the steps of a list one by one, but skip steps in a paragraph.

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
        """Yield one finding at the start of the body."""
        if all(word in subject.lower for word in _ORDER) and not any(
            subject.body[start : start + 1].isdigit() for start, _ in subject.outline.lists
        ):
            yield self.meta.found("this reads like a procedure; write its steps as a numbered list", subject.body_start)
