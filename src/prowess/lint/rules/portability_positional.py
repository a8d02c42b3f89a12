"""The rule `portability.positional`."""

from __future__ import annotations

import re

from prowess.format.fields.placeholders import NUMBERED_IN_CLAUDE_CODE
from prowess.lint.argument_placeholders import dollars_in_prose
from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities


class PortabilityPositional(LintRule):
    r"""A dollar sign that Claude Code replaces.

    What it does:
        Looks for `$0`, `$1`, ... in code blocks, and in prose for amounts and spreadsheet cells (`$1,000`, `$B$2`). If
        the skill takes no arguments, every `$0`, `$1`, ... in prose is reported. Escaped text (`\$1`) and `$5M` are
        ignored.

    Why it matters:
        If a user invokes the skill with arguments, Claude Code replaces every `$0`, `$1`, ..., also in code and in
        amounts.

    Example:
        `awk '{print $1}' log` in a code block, or `It costs $1,000.`

    Instead:
        Put the command into a script and run the script. In prose write `\$1,000`.
    """

    meta = RuleMeta(
        id="portability.positional",
        order=35,
        severities=Severities(claude_code=INFO),
        summary="No code or amount has a $1 that is replaced.",
        source="Claude Code documentation, skills",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield the first dollar sign that is replaced in each code block, and the first in prose."""
        if re.search(NUMBERED_IN_CLAUDE_CODE, subject.body) is None:
            return
        for block in subject.outline.blocks:
            found = re.search(NUMBERED_IN_CLAUDE_CODE, subject.body[block.start : block.end])
            if found is not None:
                message = f"{found[0]} is replaced by arguments of the skill; put the command into a script"
                yield self.meta.found(message, subject.at(block.start + found.start(), block.start + found.end()))
        if (amount := dollars_in_prose(subject)) is not None:
            message = f"{amount[0]} is replaced by arguments of the skill; write \\{amount[0]} for a dollar sign"
            yield self.meta.found(message, subject.at(amount.start(), amount.end()))
