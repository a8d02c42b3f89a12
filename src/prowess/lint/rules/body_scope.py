"""The rule `body.scope`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_JOINTS = ("; ", " and also ", " as well as ", " plus ")
_SEVERAL = 3


class BodyScope:
    """A skill for several tasks.

    What it does:
        Counts the parts of the description that are joined by `and also`, `as well as` or semicolons.

    Why it matters:
        A model picks a skill for one task; the rest of the body is in the way.

    Example:
        Extracts tables; sends mails; plans trips; books rooms

    Instead:
        Four skills
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="body.scope",
        family="lint",
        severity=Severity.INFO,
        summary="A skill is for one task.",
        source="Agent Skills guide on good practice",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield one finding where the body begins."""
        if sum(subject.description.lower().count(word) for word in _JOINTS) >= _SEVERAL:
            yield self.meta.found("the description names several tasks; make a skill of each", subject.body_start)
