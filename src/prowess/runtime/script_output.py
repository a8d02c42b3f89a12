"""Streams the output of a running script from the reading thread to callbacks and event observers.

The reading thread never waits. Output that is not yet delivered stays in memory, up to the size that the result keeps,
and is delivered in chunks several times a second. So a slow consumer delays neither the script nor other consumers.
Bytes are decoded as in the result, and a character that is split between two reads is delivered whole.
"""

from __future__ import annotations

import threading
from codecs import getincrementaldecoder
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import isawaitable, iscoroutinefunction
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from prowess.runtime.events.delivery import report

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from prowess.execution import ExecRequest, ExecResult, Sandbox
    from prowess.execution.request import StreamName

MAX_CHUNK_BYTES = 16 * 1024
CALLBACK_PAUSE = 0.05  # seconds between two deliveries to a callback
EVENT_PAUSE = 0.25  # seconds between two events: a session keeps a limited number of events
LAST_SECONDS = 5.0  # seconds that a finished run waits for a callback
_STREAMS: tuple[StreamName, StreamName] = ("stdout", "stderr")


class OutputChunk(Struct, frozen=True, kw_only=True):
    """Text that a script wrote to `stream`, at most 16,384 characters; `str` returns the text.

    The joined chunks of one stream equal this stream in the result.
    """

    stream: StreamName
    text: str

    def __str__(self) -> str:
        return self.text


class OutputRelay:
    """Takes bytes in any thread and passes chunks to `deliver`, at most once in `pause` seconds.

    After the end of the output, chunks are delivered for up to `last_seconds` and the rest is dropped. With None, all
    chunks are delivered.
    """

    def __init__(
        self, deliver: Callable[[OutputChunk], Awaitable[object]], *, pause: float, last_seconds: float | None = None
    ) -> None:
        self._deliver, self._pause, self._last_seconds = deliver, pause, last_seconds
        self._waiting: dict[StreamName, bytearray] = {}
        self._decoders = {stream: getincrementaldecoder("utf-8")("replace") for stream in _STREAMS}
        self._lock = threading.Lock()
        self._ended = anyio.Event()
        self._scope = anyio.CancelScope()

    def put(self, stream: StreamName, data: bytes) -> None:
        """Add bytes that were read. Does not wait; safe to call from any thread."""
        with self._lock:
            self._waiting.setdefault(stream, bytearray()).extend(data)

    def end(self) -> None:
        """Declare the output complete: `run` returns after the remaining chunks are delivered."""
        self._ended.set()
        if self._last_seconds is not None:
            self._scope.deadline = anyio.current_time() + self._last_seconds

    async def run(self) -> None:
        """Deliver chunks until the output has ended."""
        with self._scope:
            while True:
                ended = self._ended.is_set()
                while (chunk := self._take(ended=ended)) is not None:
                    if chunk.text:
                        await self._deliver(chunk)
                if ended:
                    return
                with anyio.move_on_after(self._pause):
                    await self._ended.wait()

    def _take(self, *, ended: bool) -> OutputChunk | None:
        """Return the next chunk, or None if no bytes are left. The text is empty if less than a character was read."""
        with self._lock:
            for stream, waiting in self._waiting.items():
                data = bytes(waiting[:MAX_CHUNK_BYTES])
                del waiting[:MAX_CHUNK_BYTES]
                if not waiting:
                    del self._waiting[stream]
                return OutputChunk(stream=stream, text=self._decoders[stream].decode(data))
        if ended:  # the last character may be incomplete
            for stream in _STREAMS:
                if text := self._decoders[stream].decode(b"", final=True):
                    return OutputChunk(stream=stream, text=text)
        return None


async def run_followed(sandbox: Sandbox, request: ExecRequest, relays: Sequence[OutputRelay]) -> ExecResult:
    """Run a request and deliver its output during the run. Output that the sandbox does not stream comes at the end."""
    if not relays:
        return await sandbox.run(request)
    taken = dict.fromkeys(_STREAMS, 0)

    def put(stream: StreamName, data: bytes) -> None:
        taken[stream] += len(data)
        for relay in relays:
            relay.put(stream, data)

    outcome: ExecResult | Exception
    async with anyio.create_task_group() as tasks:
        for relay in relays:
            tasks.start_soon(relay.run)
        try:
            outcome = await sandbox.run(replace(request, on_output=put))
            put("stdout", outcome.stdout[taken["stdout"] :])
            put("stderr", outcome.stderr[taken["stderr"] :])
        except Exception as fault:  # noqa: BLE001 -- raised again below; the task group would wrap it
            outcome = fault
        for relay in relays:
            relay.end()
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


_callback: ContextVar[Callable[[OutputChunk], object] | None] = ContextVar("prowess_on_output", default=None)


@contextmanager
def output_to(callback: Callable[[OutputChunk], object] | None) -> Iterator[None]:
    """Context manager: `callback` receives the output of a script call that is made in this block."""
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


def callback_relay() -> OutputRelay | None:
    """Return a relay to the callback that `output_to` set for the current call, None if no callback is set."""
    callback, failures = _callback.get(), 0
    if callback is None:
        return None

    async def deliver(chunk: OutputChunk) -> None:
        nonlocal failures
        try:
            if iscoroutinefunction(callback):
                await callback(chunk)
            elif isawaitable(answer := await to_thread.run_sync(callback, chunk, abandon_on_cancel=True)):
                await answer
        except Exception as fault:  # noqa: BLE001 -- a failing callback must not lose the result
            failures += 1
            if failures == 1:
                report("on_output failed; later failures are not logged", fault)

    return OutputRelay(deliver, pause=CALLBACK_PAUSE, last_seconds=LAST_SECONDS)
