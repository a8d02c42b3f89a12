"""The rule `reference.contents`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.lint.linked_files import linked_markdown
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_LONG = 100  # lines
_TOP = 30


class ReferenceContents:
    """A long reference file without a table of contents.

    What it does:
        Looks at the first 30 lines of each linked Markdown file of more than 100 lines for a list of links to its
        parts, or the word contents.

    Why it matters:
        Agents often read the beginning of a long file; a list of its parts tells them where to go on.

    Example:
        A reference of 400 lines that begins with its first topic

    Instead:
        Begin with `## Contents` and a list of the headings.
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="reference.contents",
        family="lint",
        severity=Severity.INFO,
        summary="A long reference file begins with its contents.",
        source="Claude guide on writing skills",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield each long file without contents."""
        for path, text in linked_markdown(subject):
            if text.count("\n") <= _LONG:
                continue
            top = "\n".join(text.split("\n", _TOP)[:_TOP]).lower()
            if "contents" not in top and "](#" not in top and "toc" not in top:
                yield self.meta.found(
                    f"{path} has more than {_LONG} lines and no table of contents at its top", subject.file_place(path)
                )
