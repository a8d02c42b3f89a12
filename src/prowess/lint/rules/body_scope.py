"""The rule `body.scope`."""

from __future__ import annotations

from prowess.lint.rule import Findings, LintRule, LintSubject, RuleMeta, Severities

_JOINTS = ("; ", " and also ", " as well as ", " plus ")
_SEVERAL = 3


class BodyScope(LintRule):
    """A skill for several tasks.

    What it does:
        Counts the parts of the description that are joined by `and also`, `as well as` or semicolons.

    Why it matters:
        A model picks a skill for one task; the rest of the body is in the way.

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
        """Yield one finding where the body begins."""
        if sum(subject.description.lower().count(word) for word in _JOINTS) >= _SEVERAL:
            yield self.meta.found("the description names several tasks; make a skill of each", subject.body_start)
