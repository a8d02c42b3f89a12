"""The rule `portability.hostVariable`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Fix, FixSafety, Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_VARIABLES = (
    "{baseDir}/",
    "${CLAUDE_SKILL_DIR}/",
    "${CLAUDE_PLUGIN_ROOT}/",
    "$CLAUDE_PLUGIN_ROOT/",
    "${SKILL_DIR}/",
    "{skill_dir}/",
)


class PortabilityHostVariable:
    """A path that begins with the variable of one host.

    What it does:
        Looks for `{baseDir}/`, `${CLAUDE_SKILL_DIR}/` and their kin before `scripts/`, `references/` or `assets/`.

    Why it matters:
        Other hosts leave the variable as it is, and the path leads nowhere. Every host knows a path relative to the
        skill.

    Example:
        `{baseDir}/references/api.md`

    Instead:
        `references/api.md`
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="portability.hostVariable",
        family="lint",
        severity=Severity.INFO,
        summary="Paths are relative to the skill, for every host.",
        source="practice of public skills",
        fixes="removes the variable, with --unsafe-fixes",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield the first use of each variable."""
        for variable in _VARIABLES:
            at = subject.body.find(variable)
            if at < 0:
                continue
            end = at + len(variable)
            offset = subject.document.body_offset
            fix = None
            if subject.body.startswith(("scripts/", "references/", "assets/"), end):
                edit = subject.document.origin.edit(at + offset, end + offset, "")
                fix = Fix(safety=FixSafety.UNSAFE, title="write the path relative to the skill", edits=(edit,))
            yield self.meta.found(
                f"{variable} is filled in by one host alone; write the rest of the path", subject.at(at, end), fix=fix
            )
