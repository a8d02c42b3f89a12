"""The rule `scripts.help`."""

from __future__ import annotations

import re
import tokenize
from io import StringIO
from typing import TYPE_CHECKING

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

if TYPE_CHECKING:
    from prowess.lint.skill_files import ScriptText

_READS = {"python": ("sys.argv[",), "shell": ('"$1"', "${1", "$1 ", '"$@"'), "javascript": ("process.argv",)}
_PASSED_ON = 'main "$@"'
_FUNCTION = r"(?:function[ \t]+)?[\w-]+[ \t]*\(\)[ \t]*\{"
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
    "用法",
    "使用方法",
    "使い方",
    "사용법",
    "uso:",
    "utilisation",
)


class ScriptsHelp(LintRule):
    """A script that takes arguments and does not explain them.

    What it does:
        Looks for an argument parser, `--help` or a usage line in scripts that read their arguments by position.
        Arguments of shell functions, text in strings, and tests are ignored.

    Why it matters:
        With `--help`, an agent does not have to guess or to read the script.

    Example:
        `path = sys.argv[1]`

    Instead:
        Use argparse, or print a usage line for `--help` and for wrong arguments.
    """

    meta = RuleMeta(
        id="scripts.help",
        order=21,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="A script that takes arguments has --help.",
        source="Agent Skills guide on scripts",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each script that takes arguments without help."""
        for script in subject.files.scripts:
            lower = script.text.lower()
            if any(word in lower for word in _HELPFUL) or script.path.rpartition("/")[2].startswith("test_"):
                continue
            at = _first_read(script)
            if at >= 0:
                message = f"{script.path} takes arguments and has no --help; add a usage text"
                yield self.meta.found(message, subject.file_place(script.path, at, script.text))


def _first_read(script: ScriptText) -> int:
    """Return the offset at which the script first reads an argument; -1 if it reads none."""
    marks = _READS[script.language]
    code = script.code
    if not any(mark in code for mark in marks):
        return -1
    if script.language == "python":
        return _first_subscript(script.text)
    if script.language == "shell":
        begins = max(code.find("main() {"), code.find("main () {"))
        body = code[begins : code.find("\n}", begins)] if begins >= 0 else ""
        main = any(mark in body for mark in marks) or "shift" in body or "getopts" in body
        code = _outside_functions(code)
        if not main:
            code = code.replace(_PASSED_ON, " " * len(_PASSED_ON))
    return min((at for mark in marks if (at := code.find(mark)) >= 0), default=-1)


def _outside_functions(code: str) -> str:
    """Return a shell script with functions blanked, same offsets. Name and closing brace must begin a line."""
    lines = code.split("\n")
    inside = False
    for at, line in enumerate(lines):
        begins = not inside and re.match(_FUNCTION, line) is not None
        if inside or begins:
            lines[at] = " " * len(line)
            inside = not (line.startswith("}") or (begins and line.rstrip().endswith("}")))
    return "\n".join(lines)


def _first_subscript(text: str) -> int:
    """Return the offset of the first `sys.argv[` with an index other than 0, or -1. Ignores strings and comments."""
    last = ["", "", "", ""]
    try:
        for token in tokenize.generate_tokens(StringIO(text).readline):
            if last == ["sys", ".", "argv", "["] and token.string != "0":
                row, column = token.start
                return sum(len(line) + 1 for line in text.split("\n")[: row - 1]) + column - len("sys.argv[")
            last = [*last[1:], token.string]
    except (tokenize.TokenError, SyntaxError):
        pass  # invalid Python is not judged
    return -1
