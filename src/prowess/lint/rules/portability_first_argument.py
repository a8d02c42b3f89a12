"""The rule `portability.firstArgument`."""

from __future__ import annotations

from prowess.lint.argument_placeholders import second_argument
from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities


class PortabilityFirstArgument(LintRule):
    r"""A skill that counts its arguments from one.

    What it does:
        Looks for `$1` or `$ARGUMENTS[1]` in a body that has no `$0`. Amounts, spreadsheet cells, escaped text (`\$1`)
        and code that uses `$1` for itself (`awk`, shell functions) are ignored. Code blocks are searched only if the
        skill declares arguments.

    Why it matters:
        Claude Code and Prowess count from zero: `$1` is the second argument, and the first argument is lost. Gemini CLI
        counts from one.

    Example:
        `Review pull request $1.`

    Instead:
        `Review pull request $0.`, or `$ARGUMENTS` if the skill has only one argument
    """

    meta = RuleMeta(
        id="portability.firstArgument",
        order=68,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="The first argument is $0.",
        source="Claude Code documentation, skills",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield the first use of the second argument."""
        if (found := second_argument(subject)) is not None:
            first = "$ARGUMENTS[0]" if found[0].startswith("$ARGUMENTS") else "$0"
            message = (
                f"{found[0]} is the second argument, but the first, {first}, is not used; count from zero, or write "
                f"\\{found[0]} for a dollar sign"
            )
            yield self.meta.found(message, subject.at(found.start(), found.end()))
