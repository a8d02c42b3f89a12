"""The rule `description.budget`."""

from __future__ import annotations

from prowess.format.tokens import tokens_above
from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_BUDGET = 100


class DescriptionBudget(LintRule):
    """A name and description that cost much in every conversation.

    What it does:
        Estimates the tokens of name and description together (characters divided by 4) and reports more than 100.

    Why it matters:
        Every agent reads the name and description of every skill when it starts, even if it never uses the skill.

    Example:
        A description of 900 characters

    Instead:
        Two sentences: what the skill does, and when to use it.
    """

    meta = RuleMeta(
        id="description.budget",
        order=41,
        severities=Severities(boxxy=INFO),
        summary="Name and description have about 100 tokens.",
        source="boxxy formal specification and implementation guide",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the description."""
        text = f"{subject.document.text_of('name') or ''} {subject.description}"
        if (count := tokens_above(text, _BUDGET, "characters")) is not None:
            message = f"name and description have {count}, about {_BUDGET} are advised; shorten the description"
            yield self.meta.found(message, subject.field_place("description"))
