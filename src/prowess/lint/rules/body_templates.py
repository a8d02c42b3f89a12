"""The rule `body.templates`."""

from __future__ import annotations

from prowess.lint.rule import Findings, LintRule, LintSubject, RuleMeta, Severities

_FORMS = frozenset({"markdown", "md", "html", "json", "yaml", "yml", "xml", "text", ""})
_LONG = 40


class BodyTemplates(LintRule):
    """A long template in the instructions.

    What it does:
        Looks for blocks of Markdown, HTML, JSON, YAML or text of 40 lines or more.

    Why it matters:
        The template is read at each activation, and needed only when something is written.

    Example:
        A report of sixty lines in a block

    Instead:
        `assets/report.md`, and a line that says when to copy it
    """

    meta = RuleMeta(
        id="body.templates",
        order=56,
        severities=Severities(),
        summary="Long templates are assets.",
        source="Agent Skills guide on good practice",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each block."""
        for block in subject.outline.blocks:
            lines = subject.body.count("\n", block.start, block.end) - 1
            if (block.info or "").split(" ")[0].lower() in _FORMS and lines >= _LONG:
                yield self.meta.found(f"a template of {lines} lines; put it into assets/", subject.at(block.start))
