"""The rule `body.commands`."""

from __future__ import annotations

from prowess.lint.rule import Findings, LintRule, LintSubject, RuleMeta, Severities

_SHELLS = frozenset({"sh", "bash", "shell", "zsh", "console"})
_LONG = 15


class BodyCommands(LintRule):
    """A long sequence of commands in the instructions.

    What it does:
        Looks for blocks of shell code with 15 lines or more.

    Why it matters:
        A model that copies many commands changes some of them. A script always runs as it was tested.

    Example:
        A block with thirty lines of shell commands

    Instead:
        `scripts/release.sh`, and one line that runs it
    """

    meta = RuleMeta(
        id="body.commands",
        order=55,
        severities=Severities(),
        summary="Long sequences of commands are in scripts.",
        source="Agent Skills guide on good practice",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each block that is too long."""
        for block in subject.outline.blocks:
            lines = subject.body.count("\n", block.start, block.end) - 1
            if (block.info or "").split(" ")[0].lower() in _SHELLS and lines >= _LONG:
                yield self.meta.found(f"{lines} lines of commands; put them into scripts/", subject.at(block.start))
