"""The rule `description.keywords`."""

from __future__ import annotations

import re

from prowess.lint.rule import INFO, WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

_WORD = r"[^\W\d_]+"
_STEM = 4
_SHORT = 2
_FILLER_TEXT = (
    "helps help with the and for this skill tool use when useful working work things stuff various tasks"
    " does handles handle manage manages processing ajuda com para your you that"
)
_FILLER = frozenset(_FILLER_TEXT.split())


class DescriptionKeywords(LintRule):
    """A description with no words beyond the name and filler words.

    What it does:
        Removes filler words and the words of the name from the description, and checks that a word is left. Only
        descriptions in ASCII are checked.

    Why it matters:
        A model finds the skill by the words of the user's request, and a name has only a few words.

    Example:
        `description: Helps with PDFs.` for `pdf-processing`

    Instead:
        `description: Extracts tables and fills forms. Use when ...`
    """

    meta = RuleMeta(
        id="description.keywords",
        order=40,
        severities=Severities(spec=INFO, skillscraft=WARNING, boxxy=WARNING, claude_code=INFO),
        summary="The description has words beyond the name.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the description."""
        words = re.findall(_WORD, subject.description.lower())
        name = subject.document.text_of("name") or ""
        stems = tuple(part[:_STEM] for part in name.lower().split("-") if len(part) > 1)
        adds_words = any(len(word) > _SHORT and word not in _FILLER and not word.startswith(stems) for word in words)
        if words and subject.description.isascii() and not adds_words:
            message = "the description has no words beyond the name; add what the skill does"
            yield self.meta.found(message, subject.field_place("description"))
