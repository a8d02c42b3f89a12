"""The rule `reference.large`."""

from __future__ import annotations

from prowess.format.limits import MAX_BODY_TOKENS
from prowess.format.tokens import tokens_above
from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_MOST = MAX_BODY_TOKENS * 6 // 5


class ReferenceLarge(LintRule):
    """A reference file that is too large to read at once.

    What it does:
        Estimates the tokens of each Markdown file that SKILL.md links to or names, and reports more than 6000. This is
        the limit of a body (5000) plus a fifth, because the count is an estimate.

    Why it matters:
        A model reads a reference file in full. A file that is larger than a whole skill fills the context for one
        question.

    Example:
        `references/api.md` with 12 000 tokens

    Instead:
        One topic per file: `references/api-errors.md`, `references/api-limits.md`.
    """

    meta = RuleMeta(
        id="reference.large",
        order=19,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="A reference file has at most 6000 tokens.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each file that is too large."""
        for path, text in subject.linked_texts:
            if (count := tokens_above(text, _MOST)) is not None:
                yield self.meta.found(f"{path} has {count}; split it, one topic a file", subject.file_place(path))
