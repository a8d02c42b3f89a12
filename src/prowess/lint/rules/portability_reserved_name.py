"""The rule `portability.reservedName`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject


class PortabilityReservedName:
    """A name that a host keeps for itself.

    What it does:
        Looks for `anthropic` and `claude` in the name.

    Why it matters:
        claude.ai and the API of Anthropic refuse the upload of such a skill.

    Example:
        `name: claude-helper`

    Instead:
        `name: review-helper`
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="portability.reservedName",
        family="lint",
        severity=Severity.INFO,
        summary="The name holds no word that a host reserves.",
        source="Claude documentation, upload of skills",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield each reserved word, at the name."""
        name = (subject.document.text_of("name") or "").lower()
        for word in ("anthropic", "claude"):
            if word in name:
                yield self.meta.found(f"claude.ai and its API refuse a name with {word!r}", subject.field_place("name"))
