"""The rule `body.tokens`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.format.limits import MAX_BODY_TOKENS
from prowess.format.tokens import tokens_above
from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

if TYPE_CHECKING:
    from prowess.format.tokens import Method


class BodyTokens(LintRule):
    """Instructions that take too much of a model's context.

    What it does:
        Estimates the tokens of the body and reports more than 5000. The estimate counts pieces of text. In the profile
        `boxxy`, the estimate is one token for four characters.

    Why it matters:
        The whole body enters the context when the skill is activated, and leaves less context for the task.

    Example:
        A body of 30 000 characters that explains every option of a tool.

    Instead:
        Keep the text that every task needs. Move the rest to `references/`, one topic per file.
    """

    meta = RuleMeta(
        id="body.tokens",
        order=6,
        severities=Severities(spec=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="The body has at most 5000 estimated tokens.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the start of the body."""
        method: Method = "characters" if subject.profile.name == "boxxy" else "pieces"
        if (count := tokens_above(subject.body, MAX_BODY_TOKENS, method)) is not None:
            message = (
                f"the body has {count}, at most {MAX_BODY_TOKENS} are advised; move guides into references/ and code"
                " into scripts/, and keep the quick start"
            )
            yield self.meta.found(message, subject.body_start)
