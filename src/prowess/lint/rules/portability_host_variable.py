"""The rule `portability.hostVariable`."""

from __future__ import annotations

from prowess.diagnostics import Fix, FixSafety
from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_VARIABLES = (
    "{baseDir}/",
    "${CLAUDE_SKILL_DIR}/",
    "${CLAUDE_PLUGIN_ROOT}/",
    "$CLAUDE_PLUGIN_ROOT/",
    "${SKILL_DIR}/",
    "{skill_dir}/",
)
# Languages of code blocks that may hold a host's settings
_SETTINGS = frozenset({"json", "jsonc", "yaml", "yml", "toml"})


class PortabilityHostVariable(LintRule):
    """A path that begins with the variable of one host.

    What it does:
        Looks for `{baseDir}/`, `${CLAUDE_SKILL_DIR}/` and similar variables. Code blocks in JSON, YAML and TOML are
        ignored, because they may be settings of the host that defines the variable.

    Why it matters:
        Other hosts do not replace the variable, so the path is wrong. Every host accepts a path relative to the skill.

    Example:
        `{baseDir}/references/api.md`

    Instead:
        `references/api.md`
    """

    meta = RuleMeta(
        id="portability.hostVariable",
        order=29,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO),
        summary="Paths are relative to the skill, for every host.",
        source="practice of public skills",
        fixes="removes the variable, with --unsafe-fixes",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield the first use of each variable."""
        for variable in _VARIABLES:
            if (at := _first(subject, variable)) < 0:
                continue
            end = at + len(variable)
            offset = subject.document.body_offset
            fix = None
            advice = "write the path relative to the skill"
            if "PLUGIN" in variable:  # the path is relative to the plugin, not to the skill
                advice = "put the file into the skill, and write its path there"
            elif subject.body.startswith(("scripts/", "references/", "assets/"), end):
                edit = subject.document.origin.edit(at + offset, end + offset, "")
                fix = Fix(safety=FixSafety.UNSAFE, title="write the path relative to the skill", edits=(edit,))
            yield self.meta.found(f"{variable} is replaced by some hosts only; {advice}", subject.at(at, end), fix=fix)


def _first(subject: LintSubject, variable: str) -> int:
    at = subject.body.find(variable)
    while at >= 0 and (block := subject.block_at(at)) is not None and block.info in _SETTINGS:
        at = subject.body.find(variable, block.end)
    return at
