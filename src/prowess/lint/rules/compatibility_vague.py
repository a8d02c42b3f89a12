"""The rule `compatibility.vague`."""

from __future__ import annotations

import re

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_NOTHING = frozenset({"any", "all", "none", "n/a", "universal", "no requirements", "nothing"})
_ANY = (
    "works with all",
    "works with any",
    "works everywhere",
    "any agent",
    "all agents",
    "compatible with all",
    "compatible with any",
)


# Words of a requirement. A text that has one of them is not reported.
_NEEDING = r"\b(?:requires?|needs?|needed|must|depends?|uses|version|\d+\.(?:\d|x))\b|\d\+"
_NOT_NEEDING = r"\b(?:requires|needs) (?:nothing|no)\b"


class CompatibilityVague(LintRule):
    """A `compatibility` field that names no requirement.

    What it does:
        Looks for texts such as `any` or `works everywhere` without a word such as `requires` or `needs`.

    Why it matters:
        The field takes up context in every conversation without any information. Most skills do not need it.

    Example:
        `compatibility: Works with all agents`

    Instead:
        Remove the field, or name a requirement: `Requires git and jq`.
    """

    meta = RuleMeta(
        id="compatibility.vague",
        order=44,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="compatibility names a requirement.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the field."""
        text = (subject.document.text_of("compatibility") or "").strip(" .").lower()
        if (text.startswith(_ANY) and not re.search(_NEEDING, re.sub(_NOT_NEEDING, "", text))) or text in _NOTHING:
            yield self.meta.found(
                "compatibility names no requirement; name one or remove the field", subject.field_place("compatibility")
            )
