"""The rule `body.empty`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities


class BodyEmpty(LintRule):
    """A skill without instructions.

    What it does:
        Checks that SKILL.md has text after the front matter.

    Why it matters:
        An agent that activates the skill gets no instructions.

    Example:
        A SKILL.md that has only front matter

    Instead:
        Write the instructions, step by step.
    """

    meta = RuleMeta(
        id="body.empty",
        order=36,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="The body is not empty.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the start of the body."""
        if subject.document.complete and not subject.body.strip():
            yield self.meta.found("the body is empty; write instructions for the agent", subject.body_start)
