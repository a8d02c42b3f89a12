"""The rule `content.placeholder`."""

from __future__ import annotations

from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

_MARKS = ("todo:", "fixme:", "[todo", "lorem ipsum dolor")  # "lorem ipsum" alone may be a topic


class ContentPlaceholder(LintRule):
    """Text that was to be written later.

    What it does:
        Looks, outside code, for lines that begin with `TODO:` or `FIXME:`, for `[TODO`, and for the words lorem ipsum
        dolor.

    Why it matters:
        An agent takes the placeholder for an instruction, or fills the gap itself.

    Example:
        `TODO: describe the errors`

    Instead:
        Write the text, or remove the line.
    """

    meta = RuleMeta(
        id="content.placeholder",
        order=38,
        most=20,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="The text has no placeholders.",
        source="practice of public skills",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each placeholder."""
        for phrase, at in subject.found_in_prose(_MARKS):
            line = subject.prose[subject.prose.rfind("\n", 0, at) + 1 : at]
            if phrase.endswith(":") and line.strip(" -*>#0123456789."):
                continue
            yield self.meta.found(
                "this is a placeholder; write the text or remove it", subject.at(at, at + len(phrase))
            )
