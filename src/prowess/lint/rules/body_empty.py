"""The rule `body.empty`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject


class BodyEmpty:
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

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="body.empty",
        family="lint",
        severity=Severity.INFO,
        summary="The body says something.",
        source="Agent Skills specification",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield one finding where the body begins."""
        if subject.document.complete and not subject.body.strip():
            yield self.meta.found("the body is empty; write what the agent is to do", subject.body_start)
