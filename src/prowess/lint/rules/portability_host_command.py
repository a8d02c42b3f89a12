"""The rule `portability.hostCommand`."""

from __future__ import annotations

from prowess.format.limits import COMMAND_MARK
from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities


class PortabilityHostCommand(LintRule):
    """A command that one host runs while it loads the skill.

    What it does:
        Looks in the text for an exclamation mark before a command in backquotes. Claude Code runs the command and
        replaces it by its output. Code blocks are ignored.

    Why it matters:
        Other hosts leave the command as it is, so the output is missing. Claude Code runs the command before anyone has
        read the skill.

    Example:
        An exclamation mark, and directly after it `git branch --show-current` in backquotes

    Instead:
        Run `git branch --show-current` first.
    """

    meta = RuleMeta(
        id="portability.hostCommand",
        order=30,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO),
        summary="No command runs while a host loads the skill.",
        source="Claude Code documentation, skills, dynamic context",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield the first command that Claude Code would run."""
        if COMMAND_MARK not in subject.body:
            return
        for span in subject.outline.spans:
            before = subject.body[max(span.start - 2, 0) : span.start]
            code = subject.body[span.start : span.end].strip("`")
            if before.endswith("!") and not before[:-1].strip(" \t\n(:") and " " in code.strip():
                message = "some hosts put the output of this command here, others do not; tell the agent to run it"
                yield self.meta.found(message, subject.at(span.start - 1, span.end))
                return
