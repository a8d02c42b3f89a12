"""The buffers that are open, each judged a moment after the last change, one at a time, in a thread.

A buffer has at most one analysis. A change gives it up: one that has not begun never runs, and the result of one that
runs is thrown away. Whoever needs an analysis before the moment has passed starts it, and both share it.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from prowess.lsp.analysis import analyse, folder_of, read_settings, skill_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.lsp.analysis import Analysis, Load

_Result = TypeVar("_Result")
DELAY = 0.15  # seconds of rest after a change; a quick typist strikes a key each 0.1 to 0.15


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
    """Every open SKILL.md. `publish` gets each new analysis, `notice` a sentence for a person, once while it holds.

    `encoding` and `folders` are what client and server agreed on; they are set when the server is initialized.
    """

    def __init__(
        self, load: Load, *, publish: Callable[[Analysis], None], notice: Callable[[str], None], delay: float = DELAY
    ) -> None:
        self._load, self._publish, self._notice, self._delay = load, publish, notice, delay
        self._buffers: dict[str, _Buffer] = {}
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="check")
        self._told: dict[str, str] = {}  # folder -> the problem of its settings that was told
        self.encoding = "utf-16"
        self.folders: tuple[str, ...] = ()

    def open(self, uri: str, text: str, version: int | None) -> None:
        """Take a buffer in and check it at once; a file that is no SKILL.md is passed over."""
        path = skill_path(uri)
        if path is None:
            return
        self.close(uri)
        self._buffers[uri] = _Buffer(uri=uri, path=path, text=text, version=version)
        self._check(self._buffers[uri], 0)

    def change(self, uri: str, text: str, version: int | None) -> None:
        """Take the new text of a buffer and check it after the delay."""
        buffer = self._buffers.get(uri)
        if buffer is not None:
            buffer.give_up()
            buffer.text, buffer.version = text, version
            self._check(buffer, self._delay)

    def close(self, uri: str) -> bool:
        """Forget a buffer; return whether it was known."""
        buffer = self._buffers.pop(uri, None)
        if buffer is not None:
            buffer.give_up()
        return buffer is not None

    def check_all(self) -> None:
        """Check every buffer again: files around them have changed, or settings."""
        for buffer in self._buffers.values():
            buffer.give_up()
            self._check(buffer, self._delay)

    async def analysis(self, uri: str) -> Analysis | None:
        """Return the analysis of a buffer as it is now; None where it is not open."""
        buffer = self._buffers.get(uri)
        return None if buffer is None else await asyncio.shield(self._task(buffer))

    async def work(self, task: Callable[[], _Result]) -> _Result:
        """Run what may take long in the thread that checks."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, task)

    def end(self) -> None:
        """Give everything up. One check may be running; nobody waits for it but the end of the process."""
        for uri in list(self._buffers):
            self.close(uri)
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _check(self, buffer: _Buffer, delay: float) -> None:
        buffer.check = asyncio.ensure_future(self._checked(buffer, delay))

    async def _checked(self, buffer: _Buffer, delay: float) -> None:
        await asyncio.sleep(delay)
        try:
            self._publish(await self._task(buffer))
        except Exception as fault:  # noqa: BLE001 -- one text that cannot be judged must not end the server
            self._notice(f"{buffer.path} could not be checked: {type(fault).__name__}: {fault}")

    def _task(self, buffer: _Buffer) -> asyncio.Task[Analysis]:
        if buffer.analysis is None:
            work = self.analysed(buffer.uri, buffer.path, buffer.text, buffer.version)
            buffer.analysis = asyncio.ensure_future(work)
        return buffer.analysis

    async def analysed(self, uri: str, path: str, text: str, version: int | None = None) -> Analysis:
        """Judge a text as it would be judged in a buffer."""
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
            self._notice(f"{problem}\nUntil this is mended, skills are checked with the default settings.")
