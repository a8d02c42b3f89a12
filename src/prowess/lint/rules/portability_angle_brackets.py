"""The rule `portability.angleBrackets`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject


class PortabilityAngleBrackets:
    """An angle bracket in the description.

    What it does:
        Looks for `<` and `>` in the description.

    Why it matters:
        Uploads to claude.ai and its API refuse it, and in a prompt it can be taken for a tag.

    Example:
        `description: Ports code to <service>.`

    Instead:
        `description: Ports code to a service that you name.`
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="portability.angleBrackets",
        family="lint",
        severity=Severity.INFO,
        summary="The description holds no angle brackets.",
        source="Claude documentation, upload of skills",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield one finding at the description."""
        if any(bracket in subject.description for bracket in "<>"):
            message = "uploads to claude.ai and its API refuse < and > in a description; use words"
            yield self.meta.found(message, subject.field_place("description"))
