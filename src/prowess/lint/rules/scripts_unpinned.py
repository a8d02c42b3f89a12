"""The rule `scripts.unpinned`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from prowess.lint.one_off_commands import unpinned_commands
from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

if TYPE_CHECKING:
    from prowess.lint.one_off_commands import OneOffCommand


class ScriptsUnpinned(LintRule):
    """A one-off command that runs the newest version of a package.

    What it does:
        Looks in code and shell scripts for `uvx`, `pipx run` and `deno run npm:` without a version. The rule also looks
        for `npx`, `bunx` and `go run` commands that ask for the latest version, install without asking (`-y`), or
        create a project. If `npx` may use the version of the project, the rule `scripts.projectVersion` applies
        instead. Each package is reported once per file.

    Why it matters:
        The command runs code that has not been reviewed, and may behave differently tomorrow.

    Example:
        `uvx ruff check .`

    Instead:
        `uvx ruff@0.14.0 check .`
    """

    meta = RuleMeta(
        id="scripts.unpinned",
        order=25,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="One-off commands name a version.",
        source="Agent Skills guide on scripts",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield the first command with each package in each file."""
        found = sorted((one for one in unpinned_commands(subject) if one.newest), key=_place)
        counts = Counter((command.place.path, command.package) for command in found)
        for command in found:
            if times := counts.pop((command.place.path, command.package), 0):
                often = f", {times} times" if times > 1 else ""
                message = f"{command.package} is not pinned to a version{often}; write {command.package}@VERSION"
                yield self.meta.found(message, command.place)


def _place(command: OneOffCommand) -> tuple[str, int, int]:
    return command.place.path or "", command.place.line, command.place.column
