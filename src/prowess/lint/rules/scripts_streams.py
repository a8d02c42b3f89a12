"""The rule `scripts.streams`."""

from __future__ import annotations

import re

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities
from prowess.lint.skill_files import in_long_text

# A line that prints an error, followed by a line that exits with a code other than 0.
_PYTHON = r"(?im)^[ \t]*print\(f?[\"'](?:error|fatal|failed)\b[^\n]*\)[ \t]*\n[ \t]*(?:sys\.)?exit\([1-9]\d?\)"
_SHELL = r"(?im)^[ \t]*echo (?:-e )?[\"'](?:error|fatal|failed)\b[^\n>]*\n[ \t]*exit [1-9]\d?[ \t]*$"


class ScriptsStreams(LintRule):
    """An error message on standard output.

    What it does:
        Looks in scripts for a printed error that is not written to standard error and is directly followed by a failing
        exit.

    Why it matters:
        A program or agent that reads the output takes the error for data.

    Example:
        `print("Error: no such file")` and then `sys.exit(1)`

    Instead:
        `sys.exit("Error: no such file")`, or `echo "Error: no such file" >&2` in a shell
    """

    meta = RuleMeta(
        id="scripts.streams",
        order=23,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="Errors go to standard error.",
        source="Agent Skills guide on scripts",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each script that prints an error to standard output, at the first such error."""
        for script in subject.files.scripts:
            if script.language == "javascript" or "exit" not in script.code:
                continue
            pattern = _PYTHON if script.language == "python" else _SHELL
            for match in re.finditer(pattern, script.code):
                if "stderr" in match[0] or in_long_text(script, match.start()):
                    continue
                message = f"{script.path} prints an error to standard output; write it to standard error"
                at = match.start() + len(match[0]) - len(match[0].lstrip())
                yield self.meta.found(message, subject.file_place(script.path, at, script.text))
                break
