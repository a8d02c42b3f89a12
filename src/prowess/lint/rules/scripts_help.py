"""The rule `scripts.help`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_READS = {"python": ("sys.argv[",), "shell": ('"$1"', "${1", "$1 ", '"$@"'), "javascript": ("process.argv",)}
_HELPFUL = (
    "argparse",
    "--help",
    "usage",
    "click",
    "typer",
    "docopt",
    "fire.",
    "commander",
    "yargs",
    "getopts",
    "parseargs",
)


class ScriptsHelp:
    """A script that takes arguments and does not explain them.

    What it does:
        Looks in scripts that read their arguments by position for a parser of arguments, `--help` or a usage line.

    Why it matters:
        An agent that sees `--help` needs neither to guess nor to read the script.

    Example:
        `path = sys.argv[1]`

    Instead:
        Use argparse, or print a usage line for `--help` and for wrong arguments.
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="scripts.help",
        family="lint",
        severity=Severity.INFO,
        summary="A script that takes arguments has --help.",
        source="Agent Skills guide on scripts",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield each such script."""
        for script in subject.scripts:
            lower = script.text.lower()
            if any(word in lower for word in _HELPFUL):
                continue
            at = min((at for mark in _READS[script.language] if (at := script.code.find(mark)) >= 0), default=-1)
            if at >= 0:
                message = f"{script.path} takes arguments and has no --help; say what it expects"
                yield self.meta.found(message, subject.file_place(script.path, at, script.text))
