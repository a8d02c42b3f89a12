"""The rule `body.whenToUse`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_LONG = 50  # lines; a shorter body needs no such section
_WORDS = ("when to", "when not", "use when", "use this", "do not use", "don't use", "not for", "quando")


class BodyWhenToUse(LintRule):
    """A long body that does not state when to use the skill.

    What it does:
        Looks for a statement on when to use, or not to use, the skill in a body of more than 50 lines.

    Why it matters:
        A skill that is applied to the wrong task does harm.

    Example:
        Fifty lines of steps

    Instead:
        `## When to use`, with the tasks that the skill is not for
    """

    meta = RuleMeta(
        id="body.whenToUse",
        order=47,
        severities=Severities(boxxy=INFO),
        summary="A long body states when to use the skill.",
        source="boxxy formal specification and implementation guide",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the start of the body."""
        if subject.lines > _LONG and not any(word in subject.lower for word in _WORDS):
            yield self.meta.found(
                "the body does not state when to use the skill; add ## When to use", subject.body_start
            )
