"""The rule `body.templates`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_FORMS = frozenset({"markdown", "md", "html", "json", "yaml", "yml", "xml", "text", ""})
_LONG = 40


class BodyTemplates:
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

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="body.templates",
        family="lint",
        severity=Severity.INFO,
        summary="Long templates are assets.",
        source="Agent Skills guide on good practice",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield each block."""
        for block in subject.outline.blocks:
            lines = subject.body.count("\n", block.start, block.end) - 1
            if (block.info or "").split(" ")[0].lower() in _FORMS and lines >= _LONG:
                yield self.meta.found(f"a template of {lines} lines; put it into assets/", subject.at(block.start))
