"""Whether a command runs a script of a skill: its path, the programs that take one, and scripts that `find` gives."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from prowess.evals.verdicts.programs import RUNNING_MODULES, SHELLS, program_name
from prowess.evals.verdicts.step_words import SKILL_FILE, path_parts

if TYPE_CHECKING:
    from prowess._internal.shell.step import ShellStep
    from prowess.evals.transcripts.transcript import TranscriptCall
    from prowess.evals.verdicts.shell_output import ShellOutput

_CHECKING = frozenset({"--check", "noexec"})  # the script is parsed only
_INLINE = frozenset({"-c", "-e", "--eval", "-p", "--print", "-command"})
_SUBCOMMANDS = frozenset({"run", "exec", "x"})
_LISTING = frozenset({"find", "fd", "fdfind", "ls", "echo", "printf"})
_SILENT = frozenset({"test", "[", "[[", "command", "which", "type", "hash", "cd", "mkdir", "diff", "cmp", "pgrep"})
_FAILURE = re.compile(
    r"error|not found|no such|cannot|can't|could not|fail|traceback|denied|\*\*\*|exception|fatal|missing|usage:"
    r"|not recognized|unable",
    re.IGNORECASE,
)
_MOST_LOOKED_AT = 100_000  # characters of an output


def is_script(path: str, directory: str | None, folders: frozenset[str]) -> bool:
    """Whether a path is that of a script in a skill's folder."""
    parts = path_parts(path, directory)
    for place, part in enumerate(parts[:-1]):
        if part in folders and parts[-1] != SKILL_FILE:
            if parts[place + 1] == "scripts" and len(parts) > place + 2:
                return True
            if place and parts[place - 1] == "skills":
                return True
    return False


def script_of_runner(program: str, step: ShellStep, folders: frozenset[str]) -> str | None:
    """Return the script that `python`, `bash`, `uv run` and the like are given; None if it is none of the skill."""
    arguments = iter([word.text for word in step.words[1:]])
    for argument in arguments:
        option = argument.casefold()
        if option == "-m":
            module = next(arguments, "")
            if module.casefold() in RUNNING_MODULES:
                continue
            path = f"{module.replace('.', '/')}.py"
            return path if is_script(path, step.directory, folders) else None
        if option in _INLINE or argument in _CHECKING:
            return None
        if SHELLS.fullmatch(program) and re.fullmatch(r"-[A-Za-z]*n[A-Za-z]*", argument):
            return None
        if argument.startswith("-") or argument in _SUBCOMMANDS:
            continue
        if is_script(argument, step.directory, folders):
            return argument
        if "/" in argument or "." in argument:
            return None  # another script; its arguments are data
    return next((word.text for word in step.inputs if is_script(word.text, step.directory, folders)), None)


def scripts_given_by(step: ShellStep, folders: frozenset[str]) -> str | None:
    """Return a path, or a pattern of paths, of scripts of the skill that `find`, `ls` or `echo` gives to a program."""
    if program_name(step.words[0].text) not in _LISTING:
        return None
    texts = [word.text for word in step.words[1:]]
    pattern = next((after for one, after in pairwise(texts) if one in ("-name", "-iname")), "*")
    for text in texts:
        parts = path_parts(text, step.directory)
        if text.startswith("-"):
            continue
        if parts[-1] == "scripts" and len(parts) > 1 and parts[-2] in folders:
            return f"{text.rstrip('/')}/{pattern}"
        if parts[-1] in folders and pattern != "*" and not pattern.casefold().endswith(".md"):
            return f"{text.rstrip('/')}/scripts/{pattern}"
        if is_script(text, step.directory, folders):
            return text
    return None


def was_skipped(before: ShellStep | None, call: TranscriptCall, output: ShellOutput) -> bool:
    """Whether a script after `||` did not run, since the command before it succeeded: the output has no failure.

    An output behind a command that prints nothing is the script's.
    """
    if call.result is None or call.failed or output.complaints or output.not_started:
        return False
    is_silent = before is None or not before.shown or program_name(before.words[0].text) in _SILENT
    if is_silent and not output.is_empty:
        return False
    return _FAILURE.search(call.result[:_MOST_LOOKED_AT]) is None
