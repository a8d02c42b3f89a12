"""The rule `no-generic-instructions`."""

from __future__ import annotations

from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

_PHRASES = (
    "handle errors appropriately",
    "handle errors properly",
    "handle errors gracefully",
    "handle edge cases appropriately",
    "follow best practices",
    "follow the best practices",
    "follow industry best practices",
    "use best practices",
    "use proper error handling",
    "use appropriate error handling",
    "ensure proper error handling",
    "implement proper error handling",
    "write clean code",
    "ensure code quality",
)
_QUOTES = frozenset("\"'*_\N{LEFT DOUBLE QUOTATION MARK}\N{LEFT SINGLE QUOTATION MARK}")
_REACH = 120  # characters


class NoGenericInstructions(LintRule):
    """A phrase that does not change what a model does.

    What it does:
        Looks, outside code and quotation marks, for stock phrases such as handle errors appropriately, follow best
        practices, or use proper error handling. A phrase is not reported if the details follow in its line.

    Why it matters:
        Vague advice takes up context and changes nothing. A model cannot tell which practice is meant.

    Example:
        Handle errors appropriately.

    Instead:
        If the request fails with 429, wait for the seconds in Retry-After and try again, at most three times.
    """

    meta = RuleMeta(
        id="no-generic-instructions",
        order=12,
        most=50,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="Instructions are specific.",
        source="skillscraft specification reference, lint rules",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each stock phrase without details."""
        for phrase, at in subject.found_in_prose(_PHRASES):
            end = at + len(phrase)
            before, behind = subject.prose[at - 1 : at], subject.prose[end : end + 1]
            if before in _QUOTES or before.isalnum() or behind.isalnum():
                continue
            if _in_heading(subject.prose, at) or _goes_on(subject.lower, end):
                continue
            yield self.meta.found(f'"{phrase}" is not specific; write the exact steps', subject.at(at, end))


def _in_heading(text: str, at: int) -> bool:
    """Whether the phrase is part of a heading: the details follow below it."""
    return text[text.rfind("\n", 0, at) + 1 : at].lstrip(" ").startswith("#")


def _goes_on(text: str, end: int) -> bool:
    """Whether the rest of the line gives details: after a colon, in brackets, or in a linked file."""
    line_end = text.find("\n", end)
    rest = text[end : min(line_end if line_end >= 0 else len(text), end + _REACH)]
    return any(mark in rest for mark in (":", "(", "](", "references/", " by ", " with ", " - ", "\N{EM DASH}"))
