"""The rule `directory.extraneous`."""

from __future__ import annotations

from prowess.diagnostics import Location
from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

# Files for people who browse a repository (boxxy guide, directory structure).
_NAMES = frozenset({"readme", "changelog", "changes", "history", "contributing", "code_of_conduct", "authors", "todo"})
_ENDINGS = frozenset({"", "md", "txt", "rst"})


class DirectoryExtraneous(LintRule):
    """A file for people in the skill's directory.

    What it does:
        Looks for README, CHANGELOG, CONTRIBUTING and similar files at the top of the skill's directory.

    Why it matters:
        An agent that lists the directory reads these files, and they do not help with the task.

    Example:
        `pdf/README.md`

    Instead:
        Move text that the agent needs to SKILL.md, and the rest to the repository around the skill.
    """

    meta = RuleMeta(
        id="directory.extraneous",
        order=7,
        severities=Severities(boxxy=WARNING),
        summary="A skill has no README, CHANGELOG or similar file.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each file for people, located at the start of SKILL.md."""
        for name, kind in sorted(subject.files.entries("").items()):
            stem, _, ending = name.lower().partition(".")
            if kind == "file" and stem in _NAMES and ending in _ENDINGS:
                message = f"{name} is not part of a skill; keep it in the repository around the skill"
                yield self.meta.found(message, Location(path=subject.document.path))
