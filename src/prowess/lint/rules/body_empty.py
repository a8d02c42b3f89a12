"""The rule `body.empty`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities


class BodyEmpty(LintRule):
    """A skill without instructions.

    What it does:
        Looks for text behind the closing fence.

    Why it matters:
        An agent that activates the skill learns nothing from it.

    Example:
        A SKILL.md of fields alone

    Instead:
        Write what to do, step by step.
    """

    meta = RuleMeta(
        id="body.empty",
        order=36,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="The body says something.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding where the body begins."""
        if subject.document.complete and not subject.body.strip():
            yield self.meta.found("the body is empty; write what the agent is to do", subject.body_start)
