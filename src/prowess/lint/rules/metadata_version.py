"""The rule `metadata.version`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject


class MetadataVersion:
    """A skill without a version.

    What it does:
        Looks for `version` under metadata.

    Why it matters:
        Without it nobody can say which copy of a skill misbehaves.

    Example:
        No metadata

    Instead:
        `metadata:` and below it a `version`
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="metadata.version",
        family="lint",
        severity=Severity.INFO,
        summary="A skill has a version.",
        source="boxxy formal specification and implementation guide",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield one finding."""
        metadata = subject.document.mapping().get("metadata")
        if subject.document.complete and not (isinstance(metadata, dict) and "version" in metadata):
            yield self.meta.found('metadata has no version; add version: "1.0.0"', subject.field_place("metadata"))
