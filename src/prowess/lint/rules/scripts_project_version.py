"""The rule `scripts.projectVersion`."""

from __future__ import annotations

from prowess.lint.one_off_commands import unpinned_commands
from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities


class ScriptsProjectVersion(LintRule):
    """A one-off command whose version depends on the project in which it runs.

    What it does:
        Looks in code and shell scripts for `npx` and `bunx` with a package without a version, and for `go run` with a
        module without a version. These commands use the version of the project. If the project has no version, they use
        the newest version or fail.

    Why it matters:
        In another project the instruction runs another version, or downloads code that has not been reviewed.

    Example:
        `npx eslint .`

    Instead:
        `npx eslint@9.17.0 .`, or state in the instructions that the project provides the tool
    """

    meta = RuleMeta(
        id="scripts.projectVersion",
        order=26,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="npx, bunx and go run name a version.",
        source="Agent Skills guide on scripts",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield the first command of each package."""
        seen = set()
        for command in unpinned_commands(subject):
            if not command.newest and command.package not in seen:
                seen.add(command.package)
                message = (
                    f"{command.package} has no version, so it depends on the project; write {command.package}@VERSION"
                )
                yield self.meta.found(message, command.place)
