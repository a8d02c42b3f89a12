"""The rule `metadata.prefix`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_COMMON = frozenset({"type", "id", "config", "settings", "options", "data", "kind", "status", "mode"})


class MetadataPrefix:
    """A key of metadata that others use too.

    What it does:
        Looks for short common words such as `type` and `id` among the keys of metadata.

    Why it matters:
        Two hosts that read the same key for different things break each other.

    Example:
        `metadata: {type: tool}`

    Instead:
        `metadata: {acme-type: tool}`
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="metadata.prefix",
        family="lint",
        severity=Severity.INFO,
        summary="Keys of metadata are distinctive.",
        source="Agent Skills specification",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield each common key."""
        metadata = subject.document.mapping().get("metadata")
        for key in metadata if isinstance(metadata, dict) else ():
            if key in _COMMON:
                yield self.meta.found(
                    f"{key} is likely to mean something else to another host; give it a prefix",
                    subject.field_place("metadata"),
                )
