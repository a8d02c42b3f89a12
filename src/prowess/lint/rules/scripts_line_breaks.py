"""The rule `scripts.lineBreaks`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.diagnostics import Fix, FixSafety
from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHELL = ("sh", "bash", "zsh", "ksh", "fish")
_WINDOWS = ("bat", "cmd", "ps1")
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh")


class ScriptsLineBreaks(LintRule):
    r"""A script with Windows line breaks.

    What it does:
        Looks for CRLF in all shell scripts of the skill, and in other files below `scripts/` that begin with `#!`.
        Files with the ending `.bat`, `.cmd` or `.ps1` are ignored.

    Why it matters:
        A shell reads the carriage return as part of the last word, so it does not find commands, options and file names
        (`$'\r': command not found`). After `#!/usr/bin/env python3`, the system looks for a program `python3\r`.

    Example:
        `scripts/build.sh`, saved with CRLF

    Instead:
        Save the file with LF, and add `*.sh text eol=lf` to `.gitattributes`.
    """

    meta = RuleMeta(
        id="scripts.lineBreaks",
        order=67,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="Scripts end their lines with LF.",
        source="POSIX, Shell Command Language; practice of public skills",
        fixes="writes LF; in a file that mixes both, with --unsafe-fixes",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each script with CRLF."""
        for path, reader in _candidates(subject):
            breaks = subject.files.line_breaks(path)
            if not breaks.crlf:
                continue
            ends = "its lines" if not breaks.lf else f"{breaks.crlf} of its {breaks.crlf + breaks.lf} lines"
            message = f"{path} ends {ends} with CRLF, and {reader} takes the CR for a character; write LF"
            # If only some lines end with CRLF, it may be intended, as in the text of a request. So this fix is unsafe.
            safety = FixSafety.UNSAFE if breaks.lf else FixSafety.SAFE
            fix = Fix(safety=safety, title="end its lines with LF", lf=True)
            yield self.meta.found(message, subject.file_place(path), fix=fix)


def _candidates(subject: LintSubject) -> Iterator[tuple[str, str]]:
    """Yield the path of each possible script, and the program that reads it. Few files are read for this."""
    top = subject.files.entries("")
    if "directory" not in top.values() and not any(name.endswith(tuple(f".{each}" for each in _SHELL)) for name in top):
        return
    for path in subject.files.listed:
        ending = path.rpartition("/")[2].rpartition(".")[2].lower()
        if ending in _SHELL:
            yield path, "the shell"
        elif path.startswith("scripts/") and ending not in _WINDOWS:
            first, _, _ = (subject.files.text(path) or "").partition("\n")
            if first.startswith("#!"):
                program = first.split()[-1].rpartition("/")[2]
                yield path, "the shell" if program in _SHELLS else "the system, which looks for the program of `#!`,"
