"""The rule `hooks.command`."""

from __future__ import annotations

from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities
from prowess.lint.rules.hook_missing import hook_faults


class HookCommandRule(LintRule):
    """A hook command that needs a shell.

    What it does:
        Parses the command of each hook as a session does: words, quotes, and the variables CLAUDE_SKILL_DIR,
        CLAUDE_PLUGIN_ROOT, CLAUDE_PROJECT_DIR and HOME. Any other shell syntax is reported.

    Why it matters:
        Prowess runs hooks without a shell, so such a hook prevents the activation of the skill.

    Example:
        `command: cat "$FILE" | grep -q secret`

    Instead:
        Put the command into a script of the skill and run the script: `command: bash
        ${CLAUDE_SKILL_DIR}/hooks/check.sh`.
    """

    meta = RuleMeta(
        id="hooks.command",
        order=69,
        most=100,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING, lenient=WARNING),
        summary="A hook's command needs no shell.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each command that cannot be run."""
        for fault, location in hook_faults(subject):
            if fault.missing is None:
                yield self.meta.found(f"the command {fault.reason}", location)
