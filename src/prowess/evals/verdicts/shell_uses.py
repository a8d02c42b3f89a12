"""Finds the uses of a skill in shell commands: reading its SKILL.md, running one of its scripts."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.globs import fits_text
from prowess._internal.shell.command_line import ShellWord, SimpleCommand
from prowess._internal.shell.launchers import started_by, text_of_shell
from prowess._internal.shell.line_steps import ShellStep, line_steps
from prowess._internal.shell.syntax_tree import GrammarMissingError
from prowess.evals.verdicts.skill_names import folded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from prowess.evals.transcripts.transcript import ShellRun, TranscriptCall

_READERS = frozenset(
    {
        *(
            "cat",
            "tac",
            "head",
            "tail",
            "less",
            "more",
            "most",
            "bat",
            "batcat",
            "nl",
            "sed",
            "gsed",
            "awk",
            "gawk",
            "mawk",
        ),
        *(
            "nawk",
            "od",
            "xxd",
            "hexdump",
            "strings",
            "cut",
            "fold",
            "fmt",
            "pr",
            "expand",
            "paste",
            "glow",
            "mdcat",
            "iconv",
        ),
        *("tr", "sort", "uniq", "rev", "view", "get-content", "gc", "type"),
    }
)
_PASSING = _READERS | {"tee", "echo", "printf", "column", "true", "", "out-string", "out-host", "select-object", "perl"}
_RUNNERS = re.compile(
    r"(?:python|pypy|node|nodejs|deno|bun|ruby|perl|php|rscript|lua|bash|sh|zsh|dash|ksh|fish|pwsh|powershell|tsx|ts-node"
    r"|source|\.)[\d.]*(?:\.exe)?"
)
_INLINE = frozenset({"-c", "-e", "-m", "--eval", "-p", "--print", "-command"})
_SUBCOMMANDS = frozenset({"run", "exec", "x"})
_NOT_THERE = re.compile(
    r"no such file|not found|cannot (?:open|find|access)|can't (?:open|find|read)|could not (?:open|find|read)"
    r"|does not exist|permission denied|is a directory|not a directory",
    re.IGNORECASE,
)
_PROGRAMS = "|".join(sorted(map(re.escape, _READERS - {"type", "view"}), key=len, reverse=True))
_SHELL_NAMES = r"(?:ba|z|da|k|fi)?sh|cmd"
_START = r"^[ \t]*(?:Output: )?(?:[\w./-]*/)?"
_COMPLAINT = re.compile(rf"{_START}(?:{_PROGRAMS}|{_SHELL_NAMES}) ?: .*$", re.MULTILINE | re.IGNORECASE)
_NOT_STARTED = re.compile(
    rf"(?:{_START}(?:python[\d.]*|ruby|perl|php|deno|bun|env|{_SHELL_NAMES}): |^error: cannot find module).*$",
    re.MULTILINE | re.IGNORECASE,
)
_FRAME = re.compile(  # lines that a host adds to the output
    r"^(?:<[^>\n]*exit(?:ed)?[^>\n]*>|exit code:? -?\d+|process group pgid: \d+|</?untrusted_context>"
    r"|output: ?(?:\(empty\))?)\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_MARKDOWN = re.compile(r"^[ \t]*(?:---[ \t]*$|name:|#)", re.MULTILINE)
_MAX_DEPTH = 5
SKILL_FILE = "skill.md"


class ShellUse(Struct, frozen=True, kw_only=True):
    """One use of a skill by a command. `failed` is true if the file was not there or the command was refused."""

    kind: Literal["read", "script"]
    path: str
    failed: bool = False


class ShellUses(Struct, frozen=True, kw_only=True):
    """The uses in one call, and the directory after it. `unread` is true if the line needs the grammar."""

    uses: tuple[ShellUse, ...] = ()
    directory: str | None = None
    unread: bool = False


def shell_uses(
    run: ShellRun, call: TranscriptCall, folders: frozenset[str], directory: str | None, *, is_cut: bool = False
) -> ShellUses:
    """Return the uses of a skill in a call that starts in `directory`.

    `folders` are the folded names that the skill's directory may have. If the transcript `is_cut`, a call without a
    result may never have ended, and has read nothing.
    """
    start = run.directory or directory
    finder = _Finder(call, folders, is_cut=is_cut)
    if run.words is not None:
        words = tuple(ShellWord(text=word) for word in run.words)
        try:
            return ShellUses(uses=tuple(finder.of_step(ShellStep(words=words, directory=start))), directory=start)
        except GrammarMissingError:
            return ShellUses(directory=start, unread=True)
    try:
        line = line_steps(run.line or "", start)
        uses = tuple(use for step in line.steps for use in finder.of_step(step))
    except GrammarMissingError:
        return ShellUses(directory=start, unread=True)
    return ShellUses(uses=uses, directory=line.directory)


class _Finder:
    def __init__(self, call: TranscriptCall, folders: frozenset[str], *, is_cut: bool) -> None:
        self._call, self._folders = call, folders
        self._is_open = is_cut and call.result is None

    def of_step(self, step: ShellStep, depth: int = 0) -> Iterator[ShellUse]:
        """Yield the uses in a step and in the commands that it starts."""
        command = SimpleCommand(words=step.words)
        if depth < _MAX_DEPTH and (text := text_of_shell(command)) is not None:
            for inner in line_steps(text.text, step.directory).steps:
                yield from self.of_step(_inside(inner, step), depth + 1)
            return
        yield from self._of_command(step)
        if depth < _MAX_DEPTH and step.words[0].text not in _READERS:
            for started in started_by(command).commands:
                yield from self.of_step(replace(step, words=started.words), depth + 1)

    def _of_command(self, step: ShellStep) -> Iterator[ShellUse]:
        program = posixpath.basename(step.words[0].text.replace("\\", "/")).casefold()
        if program in _READERS:
            is_shown = step.shown and all(name.casefold() in _PASSING for name in step.pipe)
            if is_shown and not (program in ("sed", "gsed") and _edits(step.words)):
                yield from self._reads(step)
        elif not step.words[0].expands or "/" in step.words[0].text:
            yield from self._runs(step, program)

    # ── reading ─────────────────────────────────────────────────────────────────────────────────────────────

    def _reads(self, step: ShellStep) -> Iterator[ShellUse]:
        for word in (*step.words[1:], *step.inputs):
            parts = path_parts(word.text, step.directory)
            if len(parts) > 1 and parts[-1] == SKILL_FILE and parts[-2] in self._folders:
                yield ShellUse(kind="read", path=word.text, failed=not self._was_read(step, word.text))
            elif parts == [SKILL_FILE] and step.directory is None and self._call.result is not None:
                if self._shows_skill():  # a transcript without directories: only the output tells
                    yield ShellUse(kind="read", path=word.text)
            elif word.expands and self._may_be_skill_file(word, parts) and self._shows_skill():
                yield ShellUse(kind="read", path=word.text or "files of a search")

    def _may_be_skill_file(self, word: ShellWord, parts: list[str]) -> bool:
        if not word.text.strip("{}; "):
            return True  # given by another program, such as `find` or `xargs`
        if not fits_text(SKILL_FILE, parts[-1]):
            return False
        if len(parts) == 1:
            return word.text.startswith(("*", "/")) or "{" in word.text
        return parts[-2] == "" or any(fits_text(folder, parts[-2]) for folder in self._folders)

    def _shows_skill(self) -> bool:
        """Whether the output has the frontmatter of the skill; true if there is no output to look at."""
        result = self._call.result
        if result is None:
            return not (self._call.refused or self._is_open)
        names = re.findall(r"^(?:[^\n:]*:)?name:([^\n]*)$", result, re.MULTILINE)
        return any(folded(name.strip(" \t\r\"'")) in self._folders for name in names)

    def _was_read(self, step: ShellStep, path: str) -> bool:
        call = self._call
        if call.refused:
            return False
        if call.result is None:
            return not (call.failed or self._is_open)
        paths = sum("/" in word.text for word in step.words[1:])
        if call.failed and step.alone and not step.pipe and paths <= 1:
            return False
        written = path.removeprefix("~")
        complaints = [line for line in _COMPLAINT.findall(call.result) if _NOT_THERE.search(line)]
        if any(written in line for line in complaints):
            return False
        rest = _COMPLAINT.sub(lambda match: "" if _NOT_THERE.search(match[0]) else match[0], call.result)
        rest = _FRAME.sub("", rest)
        if not rest.strip():
            return False
        return not (step.masked or call.failed) or _MARKDOWN.search(rest) is not None

    # ── scripts ─────────────────────────────────────────────────────────────────────────────────────────────

    def _runs(self, step: ShellStep, program: str) -> Iterator[ShellUse]:
        texts = [word.text for word in step.words]
        script = None
        if "/" in texts[0] and self._is_script(texts[0], step.directory):
            script = texts[0]
        elif _RUNNERS.fullmatch(program):
            script = self._script_of_runner(texts[1:], step.directory)
        if script is not None:
            yield ShellUse(kind="script", path=script, failed=self._never_ran(script))

    def _script_of_runner(self, arguments: list[str], directory: str | None) -> str | None:
        for argument in arguments:
            if argument.casefold() in _INLINE:
                return None
            if argument.startswith("-") or argument in _SUBCOMMANDS:
                continue
            if self._is_script(argument, directory):
                return argument
            if "/" in argument or "." in argument:
                return None  # another script; its arguments are data
        return None

    def _is_script(self, path: str, directory: str | None) -> bool:
        parts = path_parts(path, directory)
        for place, part in enumerate(parts[:-1]):
            if part in self._folders and parts[-1] != SKILL_FILE:
                if parts[place + 1] == "scripts" and len(parts) > place + 2:
                    return True
                if place and parts[place - 1] == "skills":
                    return True
        return False

    def _never_ran(self, script: str) -> bool:
        if self._call.refused:
            return True
        name = posixpath.basename(script)
        lines = (line for line in _NOT_STARTED.findall(self._call.result or "") if name in line)
        return any(_NOT_THERE.search(line) for line in lines)


def path_parts(path: str, directory: str | None = None) -> list[str]:
    """Return the folded components of a path, as far as it is known. A Windows path has them, too."""
    if "/" not in path:
        path = path.replace("\\", "/")
    whole = posixpath.normpath(posixpath.join(directory or "", path)) if path else ""
    return [folded(part) for part in whole.split("/")]


def _inside(step: ShellStep, outer: ShellStep) -> ShellStep:
    """Return a step of a line that a shell gets as a word, as the outer line shows it."""
    return replace(
        step,
        shown=step.shown and outer.shown,
        pipe=(*step.pipe, *outer.pipe),
        alone=step.alone and outer.alone,
        masked=step.masked or outer.masked,
    )


def _edits(words: tuple[ShellWord, ...]) -> bool:
    """Whether `sed` changes its files in place."""
    options = [word.text for word in words[1:] if word.text.startswith("-")]
    return any(option.startswith("--in-place") or re.match(r"-[a-zA-Z]*i", option) for option in options)
