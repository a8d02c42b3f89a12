"""The rule `portability.reservedName`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities


class PortabilityReservedName(LintRule):
    """A name with a word that a host reserves.

    What it does:
        Looks for `anthropic` and `claude` in the name.

    Why it matters:
        claude.ai and the Anthropic API refuse to upload such a skill.

    Example:
        `name: claude-helper`

    Instead:
        `name: review-helper`
    """

    meta = RuleMeta(
        id="portability.reservedName",
        order=31,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="The name has no word that a host reserves.",
        source="Claude documentation, upload of skills",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each reserved word, at the name."""
        name = (subject.document.text_of("name") or "").lower()
        for word in ("anthropic", "claude"):
            if word in name:
                yield self.meta.found(
                    f"claude.ai and its API refuse a name with {word!r}; choose another", subject.field_place("name")
                )
