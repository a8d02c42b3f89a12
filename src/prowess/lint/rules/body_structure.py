"""The rule `body.structure`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_LONG = 50  # lines: what is shorter needs no such part


class BodyStructure:
    """A long body without structure.

    What it does:
        Looks for headings, lists and blocks of code in a body of more than 50 lines.

    Why it matters:
        A model finds a step faster under a heading.

    Example:
        Fifty lines of prose

    Instead:
        Headings, a list of steps, commands in blocks
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="body.structure",
        family="lint",
        severity=Severity.INFO,
        summary="A long body has headings, lists or code.",
        source="boxxy formal specification and implementation guide",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield one finding where the body begins."""
        if subject.lines > _LONG and not (subject.outline.headings or subject.outline.lists or subject.outline.blocks):
            yield self.meta.found("the body has no headings, lists or code; give it structure", subject.body_start)
