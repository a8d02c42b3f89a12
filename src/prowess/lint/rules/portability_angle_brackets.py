"""The rule `portability.angleBrackets`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities


class PortabilityAngleBrackets(LintRule):
    """An angle bracket in the description.

    What it does:
        Looks for `<` and `>` in the description.

    Why it matters:
        claude.ai and the Anthropic API refuse to upload such a skill. In a prompt, a model may take angle brackets for
        a tag.

    Example:
        `description: Ports code to <service>.`

    Instead:
        `description: Ports code to a service that you name.`
    """

    meta = RuleMeta(
        id="portability.angleBrackets",
        order=32,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="The description has no angle brackets.",
        source="Claude documentation, upload of skills",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the description."""
        if any(bracket in subject.description for bracket in "<>"):
            message = "uploads to claude.ai and its API refuse < and > in a description; use words"
            yield self.meta.found(message, subject.field_place("description"))
