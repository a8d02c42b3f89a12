"""The rule `body.edgeCases`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_LONG = 50  # lines; a shorter body needs no such section
_WORDS = ("edge case", "error", "fail", "troubleshoot", "gotcha", "caveat", "limitation", "pitfall")


class BodyEdgeCases(LintRule):
    """A long body without edge cases.

    What it does:
        Looks for edge cases, errors or troubleshooting in a body of more than 50 lines and in the files that the body
        links to.

    Why it matters:
        An agent cannot know which problems occur unless the skill names them.

    Example:
        Fifty lines that describe only the case without problems

    Instead:
        `## Troubleshooting`
    """

    meta = RuleMeta(
        id="body.edgeCases",
        order=49,
        severities=Severities(boxxy=INFO),
        summary="A long body covers edge cases.",
        source="boxxy formal specification and implementation guide",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the start of the body."""
        if subject.lines > _LONG and not any(
            word in text
            for text in (subject.lower, *(text.lower() for _, text in subject.linked_texts))
            for word in _WORDS
        ):
            yield self.meta.found(
                "the skill covers no edge cases or errors; add ## Troubleshooting", subject.body_start
            )
