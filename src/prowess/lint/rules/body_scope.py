"""The rule `body.scope`."""

from __future__ import annotations

from prowess.lint.rule import Findings, LintRule, LintSubject, RuleMeta, Severities

_JOINTS = ("; ", " and also ", " as well as ", " plus ")
_SEVERAL = 3


class BodyScope(LintRule):
    """A skill for several tasks.

    What it does:
        Counts the semicolons and the words `and also`, `as well as` and `plus` in the description. Three or more
        suggest several tasks.

    Why it matters:
        A model activates a skill for one task. Instructions for the other tasks use up context.

    Example:
        Extracts tables; sends mails; plans trips; books rooms

    Instead:
        Four skills
    """

    meta = RuleMeta(
        id="body.scope",
        order=58,
        severities=Severities(),
        summary="A skill is for one task.",
        source="Agent Skills guide on good practice",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the start of the body."""
        if sum(subject.description.lower().count(word) for word in _JOINTS) >= _SEVERAL:
            yield self.meta.found("the description names several tasks; make a skill of each", subject.body_start)
