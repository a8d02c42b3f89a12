"""The rule `body.templates`."""

from __future__ import annotations

from prowess.lint.rule import Findings, LintRule, LintSubject, RuleMeta, Severities

_FORMS = frozenset({"markdown", "md", "html", "json", "yaml", "yml", "xml", "text", ""})
_LONG = 40


class BodyTemplates(LintRule):
    """A long template in the instructions.

    What it does:
        Looks for blocks of Markdown, HTML, JSON, YAML, XML or plain text with 40 lines or more.

    Why it matters:
        The model reads the template at each activation, but needs it only when it writes the document.

    Example:
        A block with a report template of sixty lines

    Instead:
        `assets/report.md`, and a line that states when to copy it
    """

    meta = RuleMeta(
        id="body.templates",
        order=56,
        severities=Severities(),
        summary="Long templates are in assets/.",
        source="Agent Skills guide on good practice",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each block that is too long."""
        for block in subject.outline.blocks:
            lines = subject.body.count("\n", block.start, block.end) - 1
            if (block.info or "").split(" ")[0].lower() in _FORMS and lines >= _LONG:
                yield self.meta.found(f"a template of {lines} lines; put it into assets/", subject.at(block.start))
