"""The rule `portability.listing`."""

from __future__ import annotations

from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

_SHOWN = 1536  # characters


class PortabilityListing(LintRule):
    """A description that Claude Code cuts off.

    What it does:
        Counts the characters of description and `when_to_use` together and reports more than 1536.

    Why it matters:
        Claude Code's list of skills shows at most 1536 characters. The model never sees the rest.

    Example:
        A description of 1000 characters and a when_to_use of 800

    Instead:
        Begin with when to use the skill, and move the details to the body.
    """

    meta = RuleMeta(
        id="portability.listing",
        order=34,
        severities=Severities(claude_code=WARNING),
        summary="description and when_to_use fit into the listing.",
        source="Claude Code documentation, skills",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at `when_to_use`, or at the description if there is none."""
        length = len(subject.description) + len(subject.document.text_of("when_to_use") or "")
        if length > _SHOWN:
            message = (
                f"description and when_to_use have {length} characters, Claude Code shows at most {_SHOWN}; "
                "shorten them"
            )
            yield self.meta.found(
                message, subject.field_place("when_to_use" if subject.document.field("when_to_use") else "description")
            )
