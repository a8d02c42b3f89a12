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
from prowess._internal.shell.outcomes import passes_nothing
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
_REMOTE = frozenset({"ssh", "mosh", "rsh"})
_CHECKING = frozenset({"--check", "noexec"})  # the script is parsed only
_INLINE = frozenset({"-c", "-e", "-m", "--eval", "-p", "--print", "-command"})
_SUBCOMMANDS = frozenset({"run", "exec", "x"})
_NOT_THERE = re.compile(
    r"no such file|not found|cannot (?:open|find|access)|can't (?:open|find|read)|could not (?:open|find|read)"
    r"|does not exist|permission denied|is a directory|not a directory",
    re.IGNORECASE,
)
_PROGRAMS = "|".join(sorted(map(re.escape, _READERS - {"type", "view"}), key=len, reverse=True))
_SHELL_NAMES = r"(?:ba|z|da|k|fi)?sh|cmd"
_SHELL = re.compile(r"(?:ba|z|da|k)?sh")
# Possessive: an output of blanks alone would be tried from each of them.
_START = r"^[ \t]*+(?:Output: )?(?:[\w./-]{0,300}/)?"
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
_MARKDOWN = re.compile(r"^[ \t]*+(?:---[ \t]*$|name:|#)", re.MULTILINE)
_MAX_DEPTH = 5
SKILL_FILE = "skill.md"


class ShellUse(Struct, frozen=True, kw_only=True):
    """One use of a skill by a command. `failed` is true if the file was not there or the command was refused.

    `missing` is true if the output says that the file is not there.
    """

    kind: Literal["read", "script"]
    path: str
    failed: bool = False
    missing: bool = False


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
        self._told: _Told | None = None

    @property
    def _output(self) -> _Told:
        """The output, looked through once for all commands of the call."""
        if self._told is None:
            self._told = _Told.of(self._call.result or "")
        return self._told

    def of_step(self, step: ShellStep, depth: int = 0) -> Iterator[ShellUse]:
        """Yield the uses in a step and in the commands that it starts."""
        command = SimpleCommand(words=step.words)
        if depth < _MAX_DEPTH and (text := text_of_shell(command)) is not None:
            for inner in line_steps(text.text, step.directory).steps:
                yield from self.of_step(_inside(inner, step), depth + 1)
            return
        yield from self._of_command(step)
        if depth < _MAX_DEPTH and step.words[0].text not in _READERS and not _is_remote(step.words):
            for started in started_by(command).commands:
                yield from self.of_step(replace(step, words=started.words), depth + 1)

    def _of_command(self, step: ShellStep) -> Iterator[ShellUse]:
        program = posixpath.basename(step.words[0].text.replace("\\", "/")).casefold()
        if program in _READERS:
            nothing = passes_nothing([word.text for word in step.words])
            is_shown = step.shown and not nothing and all(name.casefold() in _PASSING for name in step.pipe)
            if is_shown and not (program in ("sed", "gsed") and _edits(step.words)):
                yield from self._reads(step)
        elif program == "dd":
            yield from self._copied(step)
        elif not step.words[0].expands or "/" in step.words[0].text:
            yield from self._runs(step, program)

    # ── reading ─────────────────────────────────────────────────────────────────────────────────────────────

    def _copied(self, step: ShellStep) -> Iterator[ShellUse]:
        """Yield the use by `dd if=FILE`, which prints the file."""
        texts = [word.text for word in step.words[1:]]
        inputs = [word for word in step.words[1:] if word.text.startswith("if=")]
        if step.shown and not any(text.startswith("of=") for text in texts):
            files = tuple(ShellWord(text=word.text.removeprefix("if="), expands=word.expands) for word in inputs)
            yield from self._reads(replace(step, words=(step.words[0], *files)))

    def _reads(self, step: ShellStep) -> Iterator[ShellUse]:
        for word in (*step.words[1:], *step.inputs):
            parts = path_parts(word.text, step.directory)
            if len(parts) > 1 and parts[-1] == SKILL_FILE and parts[-2] in self._folders:
                missing = self._output.misses(word.text)
                failed = missing or not self._was_read(step)
                yield ShellUse(kind="read", path=word.text, failed=failed, missing=missing)
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
        if self._call.result is None:
            return not (self._call.refused or self._is_open)
        return not self._folders.isdisjoint(self._output.names)

    def _was_read(self, step: ShellStep) -> bool:
        call = self._call
        if call.refused:
            return False
        if call.result is None:
            return not (call.failed or self._is_open)
        paths = sum("/" in word.text for word in step.words[1:])
        if call.failed and step.alone and not step.pipe and paths <= 1:
            return False
        if self._output.is_empty:
            return False
        return not (step.masked or call.failed) or self._output.has_markdown

    # ── scripts ─────────────────────────────────────────────────────────────────────────────────────────────

    def _runs(self, step: ShellStep, program: str) -> Iterator[ShellUse]:
        texts = [word.text for word in step.words]
        script = None
        if "/" in texts[0] and self._is_script(texts[0], step.directory):
            script = texts[0]
        elif _RUNNERS.fullmatch(program):
            script = self._script_of_runner(program, texts[1:], step.directory)
        if script is not None:
            yield ShellUse(kind="script", path=script, failed=self._never_ran(script))

    def _script_of_runner(self, program: str, arguments: list[str], directory: str | None) -> str | None:
        for argument in arguments:
            if argument.casefold() in _INLINE or argument in _CHECKING:
                return None
            if _SHELL.fullmatch(program) and re.fullmatch(r"-[A-Za-z]*n[A-Za-z]*", argument):
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
        return any(name in line for line in self._output.not_started)


class _Told(Struct, frozen=True, kw_only=True):
    """What the output of a call tells: complaints of programs about files, names of skills, and the rest.

    `complaints` are lines such as `cat: FILE: No such file or directory`, in any language. `is_empty` is true if the
    output has nothing besides those about missing files.
    """

    complaints: tuple[str, ...]
    not_started: tuple[str, ...]
    names: frozenset[str]
    is_empty: bool
    has_markdown: bool

    @classmethod
    def of(cls, result: str) -> _Told:
        """Return what an output tells."""
        complaints = tuple(_COMPLAINT.findall(result))
        rest = _COMPLAINT.sub(lambda match: "" if _NOT_THERE.search(match[0]) else match[0], result)
        rest = _FRAME.sub("", rest)
        names = re.findall(r"^(?:[^\n:]*:)?name:([^\n]*)$", result, re.MULTILINE)
        return cls(
            complaints=complaints,
            not_started=tuple(line for line in _NOT_STARTED.findall(result) if _NOT_THERE.search(line)),
            names=frozenset(folded(name.strip(" \t\r\"'")) for name in names),
            is_empty=not rest.strip(),
            has_markdown=_MARKDOWN.search(rest) is not None,
        )

    def misses(self, path: str) -> bool:
        """Whether a program complains about the file."""
        written = path.removeprefix("~")
        about = [line for line in self.complaints if written in line]
        return any(_NOT_THERE.search(line) or re.search(rf"{re.escape(written)}['\u2019]?:? ", line) for line in about)


def path_parts(path: str, directory: str | None = None) -> list[str]:
    """Return the folded components of a path, as far as it is known. A Windows path has them, too."""
    if "/" not in path:
        path = path.replace("\\", "/")
    whole = posixpath.normpath(posixpath.join(directory or "", path)) if path else ""
    # A blank at an end is a part of a name here; a line break comes from the host.
    return [part if part.strip("\r\n") != part.strip() else folded(part) for part in whole.split("/")]


def _is_remote(words: tuple[ShellWord, ...]) -> bool:
    """Whether what the command starts runs on another machine."""
    return any(posixpath.basename(word.text) in _REMOTE for word in words)


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
