"""The rule `description.purpose`."""

from __future__ import annotations

import re

from prowess.lint.rule import INFO, WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

_OCCASIONS = (
    "use when",
    "use this when",
    "use this skill when",
    "use it when",
    "when ",
    "trigger",
    "invoke when",
    "activate when",
)
# A dash or semicolon, followed by a verb in the third person. The verb is followed by a blank; a plural in a list is
# followed by a comma, so it does not match.
_DOES = r"(?: [\u2014\u2013-] |; )[a-z]{3,}[^s\W]s [a-z]"


class DescriptionPurpose(LintRule):
    """A description that states only when to use the skill, not what it does.

    What it does:
        Reports a description if every sentence begins with `Use when` or a similar phrase, and no sentence adds what
        the skill does, as in `- guides the choice`.

    Why it matters:
        A model compares the request with what the skill does. A statement of when to use it is not enough.

    Example:
        `Use when the user uploads a file.`

    Instead:
        `Extracts tables from PDF files. Use when the user uploads one.`
    """

    meta = RuleMeta(
        id="description.purpose",
        order=39,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=WARNING, claude_code=INFO),
        summary="The description states what the skill does.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the description."""
        text = subject.description.lower()
        if not text.startswith(_OCCASIONS) or re.search(_DOES, text):
            return
        sentences = [part.strip() for part in text.replace("! ", ". ").split(". ") if part.strip()]
        if all(part.startswith(_OCCASIONS) for part in sentences):
            yield self.meta.found(
                "the description states when to use the skill, but not what it does; add that",
                subject.field_place("description"),
            )
