"""The rule `hooks.command`."""

from __future__ import annotations

from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities
from prowess.lint.rules.hook_missing import hook_faults


class HookCommandRule(LintRule):
    """A hook's command that only a shell could run.

    What it does:
        Reads the command of each hook as a session does: words, quotes, and the variables CLAUDE_SKILL_DIR,
        CLAUDE_PLUGIN_ROOT, CLAUDE_PROJECT_DIR and HOME. Everything else that needs a shell is reported.

    Why it matters:
        Hooks are run without a shell here, so such a hook stops the activation of the skill.

    Example:
        `command: cat "$FILE" | grep -q secret`

    Instead:
        Put it into a script of the skill and name that: `command: bash ${CLAUDE_SKILL_DIR}/hooks/check.sh`.
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
