"""The rule `metadata.prefix`."""

from __future__ import annotations

from prowess.lint.rule import Findings, LintRule, LintSubject, RuleMeta, Severities

_COMMON = frozenset({"type", "id", "config", "settings", "options", "data", "kind", "status", "mode"})


class MetadataPrefix(LintRule):
    """A metadata key that other hosts may use too.

    What it does:
        Looks for short common words such as `type` and `id` among the keys of metadata.

    Why it matters:
        If two hosts use one key for different things, each host misreads the value of the other host.

    Example:
        `metadata: {type: tool}`

    Instead:
        `metadata: {acme-type: tool}`
    """

    meta = RuleMeta(
        id="metadata.prefix",
        order=46,
        severities=Severities(),
        summary="Keys of metadata are distinctive.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each key that is a common word."""
        metadata = subject.document.mapping().get("metadata")
        for key in metadata if isinstance(metadata, dict) else ():
            if key in _COMMON:
                yield self.meta.found(
                    f"{key} is likely to mean something else to another host; give it a prefix",
                    subject.field_place("metadata"),
                )
