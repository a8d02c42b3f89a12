"""The open buffers, and the analysis of one version of a buffer: its document, judgement and findings.

A buffer is a SKILL.md or the `skill.manifest.yaml` beside a SKILL.md. A manifest is analysed with an empty document: it
has findings, but no fields to complete and no name to rename.

The settings are those that `prowess check` uses in the workspace folder of the file. If they cannot be read, the
default settings apply and a notice gives the reason.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from lsprotocol import types
from msgspec import Struct
from pygls.uris import to_fs_path

from prowess._internal.text.terminal_text import printable_line
from prowess.config import Configuration
from prowess.diagnostics import Severity
from prowess.errors import SkillError
from prowess.format.limits import FILE_NAMES, MANIFEST_FILE, MAX_DOCUMENT_BYTES
from prowess.format.manifest.manifest_reader import parse_sidecar
from prowess.format.parsing import parse_source
from prowess.format.reading import locate, place_in_report, raw_findings
from prowess.lint import lint_findings
from prowess.lsp.positions import Lines, without_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument
    from prowess.rule_engine import Judgement

    Silence = Callable[[SkillDocument, Judgement, Sequence[Diagnostic]], Sequence[Diagnostic]]
    Load = Callable[[str], tuple[Configuration, Silence]]

# Findings that are false for an open buffer: it may not be saved yet, or the file may be readable only by the editor.
_OF_NO_BUFFER = frozenset({"file.missing", "file.unreadable"})
_JUDGED = (*FILE_NAMES, MANIFEST_FILE)
SOURCE = "prowess"
_Result = TypeVar("_Result")
DELAY = 0.15  # seconds without a change before a check; fast typists press a key every 0.1 to 0.15 seconds
_MOST_REPORTED = 500  # limit on findings; if a buffer has more, they have one cause
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


class Analysis(Struct, frozen=True, kw_only=True, eq=False):
    """The result for one version of a buffer: `text` is its text, `path` is absolute. Compared by identity."""

    uri: str
    path: str
    version: int | None
    text: str
    lines: Lines
    document: SkillDocument
    judgement: Judgement
    silence: Silence
    findings: tuple[Diagnostic, ...]

    def read(self, data: bytes) -> SkillDocument:
        """Parse other bytes as if they were the text of this buffer."""
        return _read(data, self.path, ())


def skill_path(uri: str) -> str | None:
    """Return the absolute path of a `file` URI that names a SKILL.md or a manifest, or None for any other URI."""
    try:
        path = to_fs_path(uri)
    except ValueError:  # invalid address in square brackets
        return None
    if path is None or "\0" in path or not os.path.isabs(path) or os.path.basename(path) not in _JUDGED:
        return None
    return without_surrogates(path)


def analyse(
    uri: str, path: str, text: str, *, version: int | None, encoding: str, judgement: Judgement, silence: Silence
) -> Analysis:
    """Parse and check the text of a buffer. Other files of the skill are read from disk. Never raises."""
    text = without_surrogates(text)
    if os.path.basename(path) == MANIFEST_FILE:
        document, found = _read(b"", path, ()), _manifest_findings(text, path, judgement)
    else:
        document = _read(text.encode(), path, _about_file(path))
        found = findings(document, judgement, silence)
    return Analysis(
        uri=uri,
        path=path,
        version=version,
        text=text,
        lines=Lines(text, encoding),
        document=document,
        judgement=judgement,
        silence=silence,
        findings=tuple(found),
    )


def _about_file(path: str) -> tuple[Diagnostic, ...]:
    located = locate(os.path.dirname(path))
    found = located.found if os.path.basename(located.path) == os.path.basename(path) else ()
    return tuple(one for one in found if one.rule not in _OF_NO_BUFFER)


def _manifest_findings(text: str, path: str, judgement: Judgement) -> list[Diagnostic]:
    """Return the findings of `prowess check` on a manifest. Comments in a SKILL.md do not suppress them."""
    if judgement.profile.reference_wording:
        return []
    return sorted(judgement.judge(parse_sidecar(text.encode(), path=path).faults), key=place_in_report)


def findings(document: SkillDocument, judgement: Judgement, silence: Silence) -> list[Diagnostic]:
    """Return the findings on a document that are reported, sorted by place, as `prowess check` does."""
    if judgement.excluded and judgement.floor is None:
        return []
    found = [*judgement.judge(raw_findings(document, judgement.profile)), *lint_findings(document, judgement)]
    return sorted(silence(document, judgement, found), key=place_in_report)


def _read(data: bytes, path: str, found: tuple[Diagnostic, ...]) -> SkillDocument:
    # One byte more than the limit is kept, so that the parser notices that the text is too long.
    return parse_source(data[: MAX_DOCUMENT_BYTES + 1], path=path, directory=os.path.dirname(path), found=found)


def diagnostics(analysis: Analysis) -> list[types.Diagnostic]:
    """Return the diagnostics that are shown in the buffer."""
    return [reported(found, analysis) for found in analysis.findings[:_MOST_REPORTED]]


def reported(found: Diagnostic, analysis: Analysis) -> types.Diagnostic:
    """Return one finding in the protocol's form. Findings about another file are at line 1 and name the file."""
    message = printable_line(found.message)
    if not concerns(found, analysis):
        message = f"{printable_line(os.path.basename(found.location.path or ''))}:{found.location.line}: {message}"
    return types.Diagnostic(
        range=shown_at(found, analysis),
        message=message,
        severity=_SEVERITIES[found.severity],
        code=found.rule,
        source=SOURCE,
    )


def shown_at(found: Diagnostic, analysis: Analysis) -> types.Range:
    """Return the range of a finding in the buffer: its place, or the first line for a finding about another file."""
    if concerns(found, analysis):
        return analysis.lines.range_of(found.location)
    return types.Range(
        start=analysis.lines.position(1, 1), end=analysis.lines.position(1, len(analysis.lines.line(1)) + 1)
    )


def concerns(found: Diagnostic, analysis: Analysis) -> bool:
    """Whether a finding is about the text of the buffer."""
    return found.location.path in {None, analysis.document.path}


class Settings(Struct, frozen=True, kw_only=True):
    """The settings of a folder, the filter for findings that comments suppress, and the error if reading failed."""

    configuration: Configuration
    silence: Silence
    problem: str | None


def folder_of(path: str, folders: Iterable[str]) -> str:
    """Return the innermost workspace folder that contains a file, or else the directory that contains its skill."""
    above = [folder for folder in folders if path.startswith(os.path.join(folder, ""))]
    return max(above, key=len) if above else os.path.dirname(os.path.dirname(path))


def read_settings(load: Load, folder: str) -> Settings:
    """Load the settings of a folder. If loading fails, the default settings are returned with the problem."""
    try:
        configuration, silence = load(folder)
        return Settings(configuration=configuration, silence=silence, problem=None)
    except (SkillError, OSError, ValueError) as fault:
        return Settings(configuration=Configuration(()), silence=lambda _, __, findings: findings, problem=str(fault))


class _Buffer(Struct, kw_only=True):
    uri: str
    path: str
    text: str
    version: int | None
    analysis: asyncio.Task[Analysis] | None = None
    check: asyncio.Task[None] | None = None

    def give_up(self) -> None:
        for task in (self.analysis, self.check):
            if task is not None:
                task.cancel()
        self.analysis = self.check = None


class OpenSkills:
    """All open buffers, checked in one worker thread shortly after their last change.

    A buffer has at most one analysis. A change cancels the analysis: if it has not begun, it never runs, and if it is
    running, its result is dropped. If a request needs an analysis before the delay has passed, the analysis starts at
    once, and the later check uses its result.

    `publish` is called with each new analysis. `notice` is called with a sentence for the user. A problem is reported
    once, until it changes or is solved.

    `encoding` and `folders` are those that client and server agreed on; they are set when the server is initialized.
    """

    def __init__(
        self, load: Load, *, publish: Callable[[Analysis], None], notice: Callable[[str], None], delay: float = DELAY
    ) -> None:
        self._load, self._publish, self._notice, self._delay = load, publish, notice, delay
        self._buffers: dict[str, _Buffer] = {}
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="check")
        self._told: dict[str, str] = {}  # folder -> the problem of its settings that the user was told
        self.encoding = "utf-16"
        self.folders: tuple[str, ...] = ()

    def open(self, uri: str, text: str, version: int | None) -> None:
        """Add a buffer and check it at once. A file that is neither a SKILL.md nor a manifest is ignored."""
        path = skill_path(uri)
        if path is None:
            return
        self.close(uri)
        self._buffers[uri] = _Buffer(uri=uri, path=path, text=text, version=version)
        self._check(self._buffers[uri], 0)

    def change(self, uri: str, text: str, version: int | None) -> None:
        """Store the new text of a buffer and check it after the delay."""
        buffer = self._buffers.get(uri)
        if buffer is not None:
            buffer.give_up()
            buffer.text, buffer.version = text, version
            self._check(buffer, self._delay)

    def close(self, uri: str) -> bool:
        """Forget a buffer. Return whether it was known."""
        buffer = self._buffers.pop(uri, None)
        if buffer is not None:
            buffer.give_up()
        return buffer is not None

    def check_all(self) -> None:
        """Check every buffer again after the delay, because other files or settings have changed."""
        for buffer in self._buffers.values():
            buffer.give_up()
            self._check(buffer, self._delay)

    async def analysis(self, uri: str) -> Analysis | None:
        """Return the analysis of a buffer's current text, or None if the buffer is not open."""
        buffer = self._buffers.get(uri)
        return None if buffer is None else await asyncio.shield(self._task(buffer))

    async def work(self, task: Callable[[], _Result]) -> _Result:
        """Run a slow function in the worker thread."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, task)

    def end(self) -> None:
        """Cancel all work without waiting. A check that is running ends by itself; the process exits only after it."""
        for uri in list(self._buffers):
            self.close(uri)
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _check(self, buffer: _Buffer, delay: float) -> None:
        buffer.check = asyncio.ensure_future(self._checked(buffer, delay))

    async def _checked(self, buffer: _Buffer, delay: float) -> None:
        await asyncio.sleep(delay)
        try:
            self._publish(await self._task(buffer))
        except Exception as fault:  # noqa: BLE001 -- a text that cannot be judged must not end the server
            self._notice(f"{buffer.path} could not be checked: {type(fault).__name__}: {fault}")

    def _task(self, buffer: _Buffer) -> asyncio.Task[Analysis]:
        if buffer.analysis is None:
            buffer.analysis = asyncio.ensure_future(self.analysed(buffer.uri, buffer.path, buffer.text, buffer.version))
        return buffer.analysis

    async def analysed(self, uri: str, path: str, text: str, version: int | None = None) -> Analysis:
        """Analyse a text as if it were in a buffer."""
        encoding, folder = self.encoding, folder_of(path, self.folders)

        def work() -> tuple[Analysis, str | None]:
            settings = read_settings(self._load, folder)
            judgement = settings.configuration.judgement(os.path.dirname(path))
            analysis = analyse(
                uri, path, text, version=version, encoding=encoding, judgement=judgement, silence=settings.silence
            )
            return analysis, settings.problem

        analysis, problem = await self.work(work)
        self._tell(folder, problem)
        return analysis

    def _tell(self, folder: str, problem: str | None) -> None:
        if problem is None:
            self._told.pop(folder, None)
        elif self._told.get(folder) != problem:
            self._told[folder] = problem
            self._notice(f"{problem}\nUntil this is fixed, skills are checked with the default settings.")
