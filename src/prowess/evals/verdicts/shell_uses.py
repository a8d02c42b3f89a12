"""Finds the uses of a skill in shell commands: reading its SKILL.md, running one of its scripts."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.globs import fits_text
from prowess._internal.shell.command_line import ShellWord, SimpleCommand
from prowess._internal.shell.launchers import text_of_shell
from prowess._internal.shell.line_steps import line_steps
from prowess._internal.shell.outcomes import passes_nothing
from prowess._internal.shell.step import ShellStep
from prowess._internal.shell.syntax_tree import GrammarMissingError
from prowess.evals.verdicts.launched import launched_by, line_of
from prowess.evals.verdicts.programs import (
    COPIERS,
    INTERPRETERS,
    KEEPERS,
    PASSING,
    READERS,
    RUNNERS,
    SHELLS,
    TELLING,
    code_of,
    directory_option,
    is_copied_from,
    paths_in_code,
    power_shell_line,
    prints_lines,
    program_name,
    reads_files,
    runs_elsewhere,
    starts_files,
    text_of_windows_shell,
)
from prowess.evals.verdicts.scripts import is_script, script_of_runner, scripts_given_by, was_skipped
from prowess.evals.verdicts.shell_output import ShellOutput
from prowess.evals.verdicts.step_words import (
    SKILL_FILE,
    edits_in_place,
    inside_of,
    path_parts,
    unbraced,
    values_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from prowess.evals.transcripts.transcript import ShellRun, TranscriptCall

_MAX_DEPTH = 5
_MAX_COPIES = 100  # of the SKILL.md that are followed


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
    run: ShellRun,
    call: TranscriptCall,
    folders: frozenset[str],
    directory: str | None,
    *,
    is_cut: bool = False,
    copies: set[tuple[str, ...]] | None = None,
) -> ShellUses:
    """Return the uses of a skill in a call that starts in `directory`.

    `folders` are the folded names that the skill's directory may have. If the transcript `is_cut`, a call without a
    result may never have ended, and has read nothing. `copies` are the components of the paths of copies of the
    SKILL.md; the call adds its own.
    """
    start = run.directory or directory
    finder = _Finder(call, folders, set() if copies is None else copies, is_cut=is_cut)
    text = run.line or ""
    try:
        if run.words is not None:
            return ShellUses(uses=finder.of_words(run.words, start), directory=start)
        uses, after = finder.of_line(text, start)
        if not uses and "\\" in text and finder.has_windows_path(text):  # in a shell of Windows
            uses, after = finder.of_line(power_shell_line(text), start)
    except GrammarMissingError:
        return ShellUses(directory=start, unread=True)
    return ShellUses(uses=uses, directory=after)


class _Finder:
    def __init__(
        self, call: TranscriptCall, folders: frozenset[str], copies: set[tuple[str, ...]], *, is_cut: bool
    ) -> None:
        self._call, self._folders = call, folders
        self._is_open = is_cut and call.result is None
        self._told: ShellOutput | None = None
        self._copies = copies
        self._is_quiet = False
        self._before: ShellStep | None = None  # the step before
        self._source: ShellStep | None = None  # the first step of the pipeline

    @property
    def _output(self) -> ShellOutput:
        """The output, looked through once for all commands of the call."""
        if self._told is None:
            self._told = ShellOutput.of(self._call.result or "")
        return self._told

    def has_windows_path(self, text: str) -> bool:
        """Whether the name of the skill's folder is beside a backslash."""
        text = text.casefold()
        return any(f"\\{folder}" in text or f"{folder}\\" in text for folder in self._folders)

    def of_words(self, words: tuple[str, ...], directory: str | None) -> tuple[ShellUse, ...]:
        """Return the uses in an argument vector."""
        step = ShellStep(words=tuple(ShellWord(text=word) for word in words), directory=directory)
        uses = tuple(self.of_step(step))
        if not uses and any(map(self.has_windows_path, words)):
            words = tuple(power_shell_line(word) for word in words)
            step = replace(step, words=tuple(ShellWord(text=word) for word in words))
            uses = tuple(self.of_step(step))
        return uses

    def of_line(self, text: str, directory: str | None) -> tuple[tuple[ShellUse, ...], str | None]:
        """Return the uses in a line, and the directory after it."""
        line = line_steps(text, directory)
        self._is_quiet = "2>" in text or "&>" in text
        return tuple(self._of_steps(line.steps, 0)), line.directory

    def _of_steps(self, steps: Sequence[ShellStep], depth: int) -> Iterator[ShellUse]:
        for step in steps:
            before = self._before
            if before is None or before.pipe[1:] != step.pipe or not before.pipe:
                self._source = step
            yield from self.of_step(step, depth)
            self._before = step

    def of_step(self, step: ShellStep, depth: int = 0) -> Iterator[ShellUse]:
        """Yield the uses in a step and in the commands that it starts."""
        if depth < _MAX_DEPTH and (text := self._line_in(step)) is not None:
            inner = line_steps(text, step.directory).steps
            yield from self._of_steps([inside_of(one, step) for one in inner], depth + 1)
            return
        yield from self._of_command(step)
        if depth < _MAX_DEPTH and not runs_elsewhere(step) and (started := launched_by(step)) is not None:
            if (place := directory_option([word.text for word in step.words])) is not None:
                started = replace(started, directory=posixpath.join(step.directory or "", place))
            yield from self.of_step(self._with_scripts(started), depth + 1)

    def _with_scripts(self, step: ShellStep) -> ShellStep:
        """Return a command that gets file names of `find` or `xargs`, with the scripts that these can be."""
        given = None if self._source is None else scripts_given_by(self._source, self._folders)
        if given is None or program_name(step.words[0].text) in READERS:
            return step
        words = (ShellWord(text=given) if word.expands and not word.text.strip("{}") else word for word in step.words)
        return replace(step, words=tuple(words))

    def _line_in(self, step: ShellStep) -> str | None:
        """Return the command line that a step is given: `bash -c`, `cmd /c`, `eval`, a here-document for a shell."""
        if (word := text_of_shell(SimpleCommand(words=step.words))) is not None:
            return word.text
        if (text := line_of(step)) is not None:
            return text
        name = program_name(step.words[0].text)
        if name in ("powershell", "pwsh", "cmd"):
            return text_of_windows_shell(step)
        if name == "eval" and not any(word.expands for word in step.words):
            return " ".join(word.text for word in step.words[1:])
        is_fed = step.given is not None and all(word.text.startswith("-") for word in step.words[1:])
        return step.given if is_fed and SHELLS.fullmatch(name) else None

    def _of_command(self, step: ShellStep) -> Iterator[ShellUse]:
        program = program_name(step.words[0].text)
        if program in COPIERS:
            self._copy(step)
        elif program in READERS:
            yield from self._of_reader(step, program)
        elif program in ("dd", "tee"):
            yield from self._copied(step, program)
        elif program in KEEPERS:
            yield from self._of_code(step, [word.text for word in step.inputs])
        elif not step.words[0].expands or "/" in step.words[0].text:
            uses = [*self._runs(step, program)] or [*self._of_interpreter(step)]
            yield from uses or self._of_unknown(step, program)

    # ── reading ─────────────────────────────────────────────────────────────────────────────────────────────

    def _of_reader(self, step: ShellStep, program: str) -> Iterator[ShellUse]:
        if program in ("sed", "gsed") and edits_in_place(step.words):
            return
        if step.outputs:
            self._keep([word.text for word in (*step.words[1:], *step.inputs)], step.outputs, step.directory)
            self._keep_piped(step, step.outputs)
        nothing = passes_nothing([word.text for word in step.words])
        others = [name for name in map(str.casefold, step.pipe) if name not in PASSING]
        if not step.shown or nothing:
            return
        by_program = self._call.result is not None and all(
            name == "xargs" or INTERPRETERS.fullmatch(name) or SHELLS.fullmatch(name) for name in others
        )
        if not others or (by_program and self._shows_skill()):
            yield from self._reads(step)
        if step.pipe and SHELLS.fullmatch(step.pipe[0]):
            scripts = [word.text for word in step.words[1:] if self._is_script(word.text, step.directory)]
            for path in scripts:
                failed = self._never_ran(path) or self._output.misses(path)
                yield ShellUse(kind="script", path=path, failed=failed)

    def _copied(self, step: ShellStep, program: str) -> Iterator[ShellUse]:
        """Yield the use by `dd if=FILE` and by `tee COPY < FILE`, which print the file."""
        if program == "tee":
            files, outputs = step.inputs, step.words[1:]
        else:
            files = values_of(step, "if=") or step.inputs
            outputs = values_of(step, "of=")
        if outputs or step.outputs:
            self._keep([word.text for word in files], (*outputs, *step.outputs), step.directory)
            self._keep_piped(step, (*outputs, *step.outputs))
        if step.shown and (program == "tee" or not outputs):
            yield from self._reads(replace(step, words=(step.words[0], *files), inputs=()))

    def _reads(self, step: ShellStep) -> Iterator[ShellUse]:
        for word in (*step.words[1:], *step.inputs):
            for path in unbraced(word):
                yield from self._read(step, path, expands=word.expands)

    def _read(self, step: ShellStep, path: str, *, expands: bool) -> Iterator[ShellUse]:
        parts = path_parts(path, step.directory)
        if self._is_skill_file(parts):
            missing = self._output.misses(path)
            yield ShellUse(kind="read", path=path, failed=missing or not self._was_read(step), missing=missing)
        elif self._copies and tuple(parts) in self._copies:
            yield ShellUse(kind="read", path=path, failed=not self._was_read(step) or self._output.misses(path))
        elif parts == [SKILL_FILE] and step.directory is None and self._call.result is not None:
            if self._shows_skill():  # a transcript without directories: only the output tells
                yield ShellUse(kind="read", path=path)
        elif expands and self._may_be_skill_file(path, parts) and self._shows_skill():
            yield ShellUse(kind="read", path=path or "files of a search")

    def _is_skill_file(self, parts: list[str]) -> bool:
        return len(parts) > 1 and parts[-1] == SKILL_FILE and parts[-2] in self._folders

    def _may_be_skill_file(self, path: str, parts: list[str]) -> bool:
        if not path.strip("{}; "):
            return True  # given by another program, such as `find` or `xargs`
        if not fits_text(SKILL_FILE, parts[-1]):
            return False
        if len(parts) == 1:
            return path.startswith(("*", "/")) or "{" in path
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
        if step.is_fallback and not self._shows_skill():
            return False  # most often the command before `||` succeeds
        files = sum(not word.text.startswith("-") for word in step.words[1:])
        if call.failed and step.alone and not step.pipe and files <= 1:
            return False
        if not (call.result.strip() or self._is_quiet or step.pipe):
            return step.alone and not (call.failed or step.masked)  # the sample leaves the output out
        if self._output.is_empty:
            return False
        return not (step.masked or call.failed) or self._output.has_markdown

    # ── copies ──────────────────────────────────────────────────────────────────────────────────────────────

    def _copy(self, step: ShellStep) -> None:
        """Note where `cp` and the like put the SKILL.md, or the folder of the skill."""
        for source, target in is_copied_from(step):
            if path_parts(source, step.directory)[-1] in self._folders:
                self._add_copies((*path_parts(target, step.directory), SKILL_FILE))
            else:
                self._keep([source], (ShellWord(text=target),), step.directory)

    def _keep(self, sources: list[str], targets: tuple[ShellWord, ...], directory: str | None) -> None:
        """Note the copies of the SKILL.md, if it is among the sources."""
        if any(self._may_be_source(path, directory) for text in sources for path in unbraced(ShellWord(text=text))):
            for target in targets:
                parts = tuple(path_parts(target.text, directory))
                self._add_copies(parts, (*parts, SKILL_FILE))

    def _keep_piped(self, step: ShellStep, targets: tuple[ShellWord, ...]) -> None:
        """Note the copies that a step gets from the first program of a pipeline through the others."""
        source = self._source
        if source is None or source is step or program_name(source.words[0].text) not in READERS:
            return
        if all(name.casefold() in PASSING for name in source.pipe):
            paths = (word.text for word in (*source.words[1:], *source.inputs))
            self._keep([posixpath.join(source.directory or "", path) for path in paths], targets, step.directory)

    def _may_be_source(self, path: str, directory: str | None) -> bool:
        """Whether a path is that of the SKILL.md, or a pattern for it in a call whose output shows the skill."""
        parts = path_parts(path, directory)
        if self._is_skill_file(parts):
            return True
        is_pattern = not path.strip("{}") or any(
            sign in path for sign in "*?["
        )  # it is empty if a substitution gives it
        return is_pattern and self._may_be_skill_file(path, parts) and self._shows_skill()

    def _add_copies(self, *paths: tuple[str, ...]) -> None:
        if len(self._copies) < _MAX_COPIES:
            self._copies.update(paths)

    # ── programs in another language ────────────────────────────────────────────────────────────────────────

    def _of_interpreter(self, step: ShellStep) -> Iterator[ShellUse]:
        """Yield the uses by a program such as `python -c "print(open(FILE).read())"`.

        The effect of the program is not known. It has read the file if the output looks like a SKILL.md.
        """
        if (code := code_of(step)) is None:
            return
        paths = paths_in_code(code)
        if any(word.expands and not word.text for word in step.words):
            paths.append(SKILL_FILE)  # given by another program: only the output tells
        yield from self._of_code(step, paths, is_reading=reads_files(code) or prints_lines(step))
        if starts_files(code):
            scripts = [path for path in paths if self._is_script(path, step.directory)]
            yield from (ShellUse(kind="script", path=path, failed=self._never_ran(path)) for path in scripts[:1])

    def _of_unknown(self, step: ShellStep, program: str) -> Iterator[ShellUse]:
        """Yield the use by an unknown program, if it gets the file and a SKILL.md comes out."""
        if program not in TELLING and not runs_elsewhere(step) and self._output.has_fence and self._shows_skill():
            yield from self._of_code(step, [word.text for word in (*step.words[1:], *step.inputs)])

    def _of_code(self, step: ShellStep, paths: list[str], *, is_reading: bool = True) -> Iterator[ShellUse]:
        if self._call.refused or not step.shown:
            return
        told, is_known = self._output, self._call.result is not None
        for path in paths:
            parts = path_parts(path, step.directory)
            if self._is_skill_file(parts):
                shows = (told.has_markdown and not told.misses(path)) if is_known else is_reading and not self._is_open
            else:
                shows = is_known and parts[-1] == SKILL_FILE and self._shows_skill()
            if shows:
                yield ShellUse(kind="read", path=path)
                return

    # ── scripts ─────────────────────────────────────────────────────────────────────────────────────────────

    def _runs(self, step: ShellStep, program: str) -> Iterator[ShellUse]:
        texts = [word.text for word in step.words]
        script = None
        if "/" in texts[0] and self._is_script(texts[0], step.directory):
            script = texts[0]
        elif RUNNERS.fullmatch(program):
            script = script_of_runner(program, step, self._folders)
        if script is not None:
            failed = self._never_ran(script) or (
                step.is_fallback and was_skipped(self._before, self._call, self._output)
            )
            yield ShellUse(kind="script", path=script, failed=failed)

    def _is_script(self, path: str, directory: str | None) -> bool:
        return is_script(path, directory, self._folders)

    def _never_ran(self, script: str) -> bool:
        return self._call.refused or self._output.never_started(script)
