"""The rule `progressive-disclosure`."""

from __future__ import annotations

from prowess.format.limits import FILES_FOR_PEOPLE
from prowess.lint.rule import INFO, WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

_LONG = 200  # lines


class ProgressiveDisclosure(LintRule):
    """A long skill that keeps everything in one file.

    What it does:
        If the body has 200 lines or more, looks for reference files: files in `references/`, or other Markdown files of
        the skill. For a SKILL.md without a directory, links to Markdown files count instead.

    Why it matters:
        A model reads the whole body at each activation, but a reference file only if the task needs it.

    Example:
        A SKILL.md of 350 lines without any other file.

    Instead:
        Move details that only some tasks need to `references/`, and state in SKILL.md when to read which file.
    """

    meta = RuleMeta(
        id="progressive-disclosure",
        order=13,
        severities=Severities(spec=INFO, skillscraft=WARNING, boxxy=WARNING, claude_code=INFO),
        summary="A body of 200 lines or more has reference files.",
        source="skillscraft specification reference, lint rules",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield one finding at the start of the body."""
        if subject.lines >= _LONG and not _has_references(subject):
            message = f"the body has {subject.lines} lines and no reference file; move detail into references/"
            yield self.meta.found(message, subject.body_start)


def _has_references(subject: LintSubject) -> bool:
    if subject.document.directory is None:
        return any(link.path.lower().endswith(".md") for link in subject.links)
    own = FILES_FOR_PEOPLE | {"skill.md", "readme.md", "changelog.md"}
    return bool(subject.files.entries("references")) or any(
        file.lower().endswith((".md", ".txt", ".rst")) and file.lower() not in own for file in subject.files.listed
    )
