"""The rule `context-budget`."""

from __future__ import annotations

from prowess.format.limits import MAX_BODY_LINES, MAX_BODY_TOKENS
from prowess.format.tokens import tokens_above
from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

_ADVICE = "move guides into references/ and code into scripts/, and keep the quick start"


class ContextBudget(LintRule):
    """Instructions that take more of a model's context than a skill should.

    What it does:
        Counts the lines of the body and estimates its tokens. More than 500 lines or more than 5000 tokens are too
        many. The finding names the method of the estimate.

    Why it matters:
        The whole body enters the context when the skill is activated, and leaves less context for the task.

    Example:
        A body of 700 lines that explains every option of a tool.

    Instead:
        Keep the quick start and the text that every task needs. Move guides to `references/`, code to `scripts/`,
        templates to `assets/`.
    """

    meta = RuleMeta(
        id="context-budget",
        order=10,
        severities=Severities(skillscraft=WARNING),
        summary="The body has at most 5000 tokens and 500 lines.",
        source="skillscraft specification reference, lint rules",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the start of the body."""
        if subject.lines > MAX_BODY_LINES:
            yield self.meta.found(
                f"the body has {subject.lines} lines, at most {MAX_BODY_LINES} are advised; {_ADVICE}",
                subject.body_start,
            )
        elif (count := tokens_above(subject.body, MAX_BODY_TOKENS, "pieces")) is not None:
            yield self.meta.found(
                f"the body has {count}, at most {MAX_BODY_TOKENS} are advised; {_ADVICE}", subject.body_start
            )
