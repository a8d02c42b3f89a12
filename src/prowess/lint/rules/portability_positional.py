"""The rule `portability.positional`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities


class PortabilityPositional(LintRule):
    """A dollar sign in code that Claude Code replaces.

    What it does:
        Looks for `$0` to `$9` inside code blocks of the body.

    Why it matters:
        When a user invokes the skill with arguments, Claude Code puts them there, in code as well.

    Example:
        `awk '{print $1}' log` in a code block

    Instead:
        Put the command into a script and run that.
    """

    meta = RuleMeta(
        id="portability.positional",
        order=35,
        severities=Severities(claude_code=INFO),
        summary="Code holds no $1 that arguments would replace.",
        source="Claude Code documentation, skills",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield the first in each block."""
        if "$" not in subject.body:
            return
        for block in subject.outline.blocks:
            code = subject.body[block.start : block.end]
            at = min((at for digit in "0123456789" if (at := code.find(f"${digit}")) >= 0), default=-1)
            if at >= 0:
                message = f"{code[at : at + 2]} is replaced by arguments of the skill; put the command into a script"
                yield self.meta.found(message, subject.at(block.start + at, block.start + at + 2))
