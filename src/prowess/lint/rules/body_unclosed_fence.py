"""The rule `body.unclosedFence`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.markdown import outline
from prowess.diagnostics import Fix, FixSafety
from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

if TYPE_CHECKING:
    from prowess._internal.markdown import CodeBlock

_MESSAGE = "this code block is never closed; add a closing fence"
# Message for a fence without a language: the author may have meant it as the end of a block that contains fences.
_BARE = (
    f"{_MESSAGE}. If this fence was meant to close a block that contains fences, write four backticks around that block"
)


class BodyUnclosedFence(LintRule):
    """A code block that is never closed.

    What it does:
        Looks for a fence of backticks or tildes without a closing fence: a later fence of the same character that is at
        least as long. These files are read: SKILL.md, the Markdown files that SKILL.md names, and the Markdown files
        beside SKILL.md and in `references/`.

    Why it matters:
        All text after the fence counts as code: headings, links and steps are lost.

    Example:
        Three backticks, a command, and then the next section

    Instead:
        Close the block with three backticks. Use four backticks around a block that contains a fence.
    """

    meta = RuleMeta(
        id="body.unclosedFence",
        order=37,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="Each code block is closed.",
        source="CommonMark, fenced code blocks",
        fixes="closes the block at the end of the file, with --unsafe-fixes",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield the unclosed block of each text."""
        if (block := _unclosed(subject.body)) is not None:
            offset = len(subject.document.text)
            opening = subject.body[block.start : block.end].lstrip()
            mark = opening[: len(opening) - len(opening.lstrip(opening[0]))]
            fence = mark if subject.document.text.endswith("\n") else f"\n{mark}"
            edit = subject.document.origin.edit(offset, offset, f"{fence}\n")
            fix = Fix(safety=FixSafety.UNSAFE, title="close the block at the end of the file", edits=(edit,))
            end = subject.body.find("\n", block.start)
            place = subject.at(block.start, block.end if end < 0 else end)
            yield self.meta.found(_MESSAGE if block.info else _BARE, place, fix=fix)
        for path, text in subject.other_texts:
            if (block := _unclosed(text)) is not None:
                message = _MESSAGE if block.info else _BARE
                yield self.meta.found(message, subject.file_place(path, block.start, text))


def _unclosed(text: str) -> CodeBlock | None:
    """Return the code block that runs to the end of the text because its fence is not closed, or None."""
    if _plainly_closed(text):
        return None
    for block in outline(text).blocks:
        lines = text[block.start : block.end].rstrip().split("\n")
        mark = lines[0].lstrip()[:3]
        if block.info is None or mark not in {"```", "~~~"} or block.end < len(text.rstrip()):
            continue
        last = lines[-1].strip()
        length = len(lines[0].lstrip()) - len(lines[0].lstrip().lstrip(mark[0]))
        if len(lines) == 1 or last.strip(mark[0]) or len(last) < length:
            return block
    return None


def _plainly_closed(text: str) -> bool:
    """Whether the fences are certainly closed: three backticks each, every second one bare. Avoids parsing."""
    if "~~~" in text or "````" in text:
        return False
    at, inside = text.find("```"), False
    while at >= 0:
        start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        line = text[start : end if end >= 0 else len(text)].strip()
        if line.startswith("```"):
            if inside and line != "```":
                return False
            inside = not inside
        at = text.find("```", end) if end >= 0 else -1
    return not inside
