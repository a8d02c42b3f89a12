"""The rule `body.edgeCases`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.lint.linked_files import linked_markdown
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_LONG = 50  # lines: what is shorter needs no such part
_WORDS = ("edge case", "error", "fail", "troubleshoot", "gotcha", "caveat", "limitation", "pitfall")


class BodyEdgeCases:
    """A long body that treats no edge cases.

    What it does:
        Looks for edge cases, errors or troubleshooting in a body of more than 50 lines and in the files it links
        to.

    Why it matters:
        What goes wrong is what an agent cannot know.

    Example:
        Fifty lines on the best of cases

    Instead:
        `## Troubleshooting`
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="body.edgeCases",
        family="lint",
        severity=Severity.INFO,
        summary="A long body treats edge cases.",
        source="boxxy formal specification and implementation guide",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield one finding where the body begins."""
        if subject.lines > _LONG and not any(
            word in text
            for text in (subject.lower, *(text.lower() for _, text in linked_markdown(subject)))
            for word in _WORDS
        ):
            yield self.meta.found(
                "the skill treats no edge cases or errors; add ## Troubleshooting", subject.body_start
            )
