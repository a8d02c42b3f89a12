"""The rule `directory.extraneous`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Location, Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

# Written for people who browse a repository; boxxy guide, directory structure.
_NAMES = frozenset({"readme", "changelog", "changes", "history", "contributing", "code_of_conduct", "authors", "todo"})
_ENDINGS = frozenset({"", "md", "txt", "rst"})


class DirectoryExtraneous:
    """A file for people beside the files of the skill.

    What it does:
        Looks for README, CHANGELOG, CONTRIBUTING and the like at the top of the skill's directory.

    Why it matters:
        An agent that lists the directory reads them, and they say nothing that helps with the task.

    Example:
        `pdf/README.md`

    Instead:
        Say it in SKILL.md where the agent needs it, else in the repository around the skill.
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="directory.extraneous",
        family="lint",
        severity=Severity.WARNING,
        summary="No README, CHANGELOG or the like is in a skill.",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield each such file, at the start of SKILL.md."""
        if subject.files is None:
            return
        for name, kind in sorted(subject.files.entries("").items()):
            stem, _, ending = name.lower().partition(".")
            if kind == "file" and stem in _NAMES and ending in _ENDINGS:
                message = f"{name} is no part of a skill; keep it in the repository around the skill"
                yield self.meta.found(message, Location(path=subject.document.path))
