"""The rule `metadata.version`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities


class MetadataVersion(LintRule):
    """A skill without a version.

    What it does:
        Looks for `version` in metadata.

    Why it matters:
        Without a version, you cannot tell which copy of a skill has a problem.

    Example:
        No metadata

    Instead:
        A `version` in `metadata`
    """

    meta = RuleMeta(
        id="metadata.version",
        order=45,
        severities=Severities(boxxy=INFO),
        summary="A skill has a version.",
        source="boxxy formal specification and implementation guide",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the metadata."""
        metadata = subject.document.mapping().get("metadata")
        if subject.document.complete and not (isinstance(metadata, dict) and "version" in metadata):
            yield self.meta.found('metadata has no version; add version: "1.0.0"', subject.field_place("metadata"))
