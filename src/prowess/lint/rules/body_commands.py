"""The rule `body.commands`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_SHELLS = frozenset({"sh", "bash", "shell", "zsh", "console"})
_LONG = 15


class BodyCommands:
    """A long row of commands in the instructions.

    What it does:
        Looks for blocks of shell code of 15 lines or more.

    Why it matters:
        A model that copies many commands changes some of them; a script runs as it was tested.

    Example:
        Thirty lines of shell in a block

    Instead:
        `scripts/release.sh`, and one line that runs it
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="body.commands",
        family="lint",
        severity=Severity.INFO,
        summary="Long rows of commands are scripts.",
        source="Agent Skills guide on good practice",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield each block."""
        for block in subject.outline.blocks:
            lines = subject.body.count("\n", block.start, block.end) - 1
            if (block.info or "").split(" ")[0].lower() in _SHELLS and lines >= _LONG:
                yield self.meta.found(f"{lines} lines of commands; put them into scripts/", subject.at(block.start))
