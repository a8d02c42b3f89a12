"""The rule `body.unclosedFence`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Fix, FixSafety, Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject


class BodyUnclosedFence:
    """A block of code that is never closed.

    What it does:
        Looks for a fence of backticks or tildes without another of the same kind below it.

    Why it matters:
        Everything that follows counts as code: headings, links and steps are lost.

    Example:
        Three backticks, a command, and then the next section

    Instead:
        Close the block with three backticks; around a block that holds a fence write four.
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="body.unclosedFence",
        family="lint",
        severity=Severity.WARNING,
        summary="Each block of code is closed.",
        source="CommonMark, fenced code blocks",
        fixes="closes it at the end of the file, with --unsafe-fixes",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield the block that runs to the end."""
        if _plainly_closed(subject.body):
            return
        for block in subject.outline.blocks:
            text = subject.body[block.start : block.end].rstrip()
            lines = text.split("\n")
            mark = lines[0].lstrip()[:3]
            if block.info is None or mark not in {"```", "~~~"} or block.end < len(subject.body.rstrip()):
                continue
            if len(lines) == 1 or lines[-1].strip().strip(mark[0]) or not lines[-1].strip().startswith(mark):
                offset = len(subject.document.text)
                fence = mark if subject.document.text.endswith("\n") else f"\n{mark}"
                edit = subject.document.origin.edit(offset, offset, f"{fence}\n")
                fix = Fix(safety=FixSafety.UNSAFE, title="close it at the end", edits=(edit,))
                first = subject.at(block.start, block.start + len(lines[0]))
                yield self.meta.found("this block of code is never closed", first, fix=fix)


def _plainly_closed(body: str) -> bool:
    """Whether every fence is of three backticks and has its end, so that nothing has to be parsed."""
    if "~~~" in body or "````" in body:
        return False
    if "```" not in body:
        return True
    inside = False
    for line in body.split("\n"):
        text = line.strip()
        if text.startswith("```"):
            if inside and text != "```":
                return False
            inside = not inside
    return not inside
