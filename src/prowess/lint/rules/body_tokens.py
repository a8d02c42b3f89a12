"""The rule `body.tokens`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Location, Severity
from prowess.format.limits import MAX_BODY_TOKENS
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_CHARACTERS_A_TOKEN = 4  # boxxy guide, progressive disclosure


class BodyTokens:
    """Instructions that take too much of a model's context.

    What it does:
        Estimates the tokens of the body, one for four characters, and compares them with 5000.

    Why it matters:
        The whole body enters the context when the skill is activated, and leaves less of it for the task.

    Example:
        A body of 30 000 characters that explains every option of a tool.

    Instead:
        Keep what every task needs, and move the rest to `references/`, one topic a file.
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="body.tokens",
        family="lint",
        severity=Severity.WARNING,
        summary="The body has at most 5000 estimated tokens.",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield one finding where the body begins."""
        tokens = -(-len(subject.document.body) // _CHARACTERS_A_TOKEN)
        if tokens > MAX_BODY_TOKENS:
            message = (
                f"the body has about {tokens} tokens (characters / {_CHARACTERS_A_TOKEN}), at most {MAX_BODY_TOKENS}"
                " are advised; move detail into references/"
            )
            yield self.meta.found(message, Location(path=subject.document.path, line=subject.document.body_line))
