"""The rule `reference.when`."""

from __future__ import annotations

from prowess.lint.rule import Findings, LintRule, LintSubject, RuleMeta, Severities

_WORDS = ("if ", "when", "for ", "before", "after", "to ", "need", ":")
_REACH = 300
_MAX_LOOKED_AT = 100


class ReferenceWhen(LintRule):
    """A link to a reference file that does not state when to read the file.

    What it does:
        Looks for a word such as if, when, for or before in the line of each link to a Markdown file of the skill.

    Why it matters:
        An agent that does not know when to read a file reads all files, or none.

    Example:
        `- [forms](references/forms.md)`

    Instead:
        `For forms with signatures read [forms](references/forms.md).`
    """

    meta = RuleMeta(
        id="reference.when",
        order=53,
        severities=Severities(),
        summary="A link states when to read the file.",
        source="Agent Skills guide on good practice",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each link in a line that does not state when to read the file."""
        for link in subject.links[:_MAX_LOOKED_AT]:
            start = link.start - subject.document.body_offset
            line = subject.lower[subject.lower.rfind("\n", 0, start) + 1 : start + _REACH].split("\n", 1)[0]
            if link.path.lower().endswith(".md") and not any(word in line for word in _WORDS):
                yield self.meta.found(
                    f"the link does not state when to read {link.path}; add it",
                    subject.document.origin.location(link.start, link.end),
                )
