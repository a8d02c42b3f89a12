"""The rule `scripts.projectVersion`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.lint.one_off_commands import unpinned_commands
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject


class ScriptsProjectVersion:
    """A one-off command whose version depends on the project it runs in.

    What it does:
        Looks in code and shell scripts for `npx` and `bunx` with a package that has no version, and for `go run` of a
        module without one. They take the version that the project has, and the newest or none where it has none.

    Why it matters:
        In another project the same instruction runs another version, or downloads code that nobody has seen yet.

    Example:
        `npx eslint .`

    Instead:
        `npx eslint@9.17.0 .`, or say in the instructions that the project brings the tool
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="scripts.projectVersion",
        family="lint",
        severity=Severity.INFO,
        summary="npx, bunx and go run name a version.",
        source="Agent Skills guide on scripts",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield the first command of each package."""
        seen = set()
        for command in unpinned_commands(subject):
            if not command.newest and command.package not in seen:
                seen.add(command.package)
                message = f"{command.package} names no version; it is the project's, where that has one"
                yield self.meta.found(message, command.place)
