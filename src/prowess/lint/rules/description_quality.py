"""The rule `description-quality`."""

from __future__ import annotations

from prowess.lint.occasions import states_occasion
from prowess.lint.rule import INFO, WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities


class DescriptionQuality(LintRule):
    """A description that does not say when to use the skill.

    What it does:
        Looks for a clause such as `Use when ...`, `Use this for ...` or `trigger`, in English, in Chinese, Japanese
        and Korean, and in a dozen other languages. What another tool is used for is no occasion. A description in a
        language that is not known here draws nothing.

    Why it matters:
        The description is all that a model sees when it decides whether the skill fits. Without an occasion it is
        picked too rarely.

    Example:
        `description: Extracts tables from PDF files.`

    Instead:
        `description: Extracts tables from PDF files. Use when the user asks for data from a PDF or a scan.`
    """

    meta = RuleMeta(
        id="description-quality",
        order=11,
        severities=Severities(spec=INFO, skillscraft=WARNING, boxxy=WARNING, claude_code=INFO),
        summary="The description says when to use the skill.",
        source="skillscraft specification reference, lint rules",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the description."""
        text = subject.description
        if text and not states_occasion(text, subject.document.text_of("name") or ""):
            message = 'the description does not say when to use the skill; add "Use when the user asks to ..."'
            yield self.meta.found(message, subject.field_place("description"))
