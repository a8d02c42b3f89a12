"""A session for programs without an event loop: `Session` behind one blocking portal.

A thread runs the event loop. Every method submits a call to this thread and waits for the result, so no logic of
`Session` is duplicated.
"""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from functools import partial, wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar, Unpack
from weakref import WeakSet

from anyio.from_thread import start_blocking_portal

from prowess.runtime.session import Session
from prowess.runtime.session_view import SessionView

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
    from concurrent.futures import Future
    from os import PathLike
    from types import TracebackType

    from anyio.from_thread import BlockingPortal

    from prowess.catalog import Catalog
    from prowess.runtime.call_options import InstructionOptions
    from prowess.runtime.disclosure.cost import Cost
    from prowess.runtime.disclosure.model_texts import Disclosure
    from prowess.runtime.events.event import SessionEvent
    from prowess.runtime.events.stream import EventStream
    from prowess.runtime.options import ListeningKeywords, SessionOptions

_LOOK_UP_SECONDS = 0.1
P = ParamSpec("P")
T = TypeVar("T")
_open: WeakSet[SyncSession] = WeakSet()
_watching = threading.Lock()


def _waited(
    method: Callable[Concatenate[Session, P], Coroutine[object, object, T]],
) -> Callable[Concatenate[SyncSession, P], T]:
    """Return a blocking version of a method of `Session`."""

    @wraps(method)
    def waiting(self: SyncSession, /, *args: P.args, **options: P.kwargs) -> T:
        return self._wait(partial(method, self._session, *args, **options))

    return waiting


class SyncSession(SessionView):
    """`Session` without `await`. As a context manager, the session is closed at the end of the block.

        with SyncSession("skills") as session:
            session.load("csv-report")

    The arguments are those of `Session`. `instructions` and `disclose` first call `refresh(whole=False)`, so their
    result is up to date. Safe to use from several threads: the result is as if the calls ran one after another.
    """

    def __init__(
        self,
        catalog: Catalog | str | PathLike[str],
        options: SessionOptions | None = None,
        **keywords: Unpack[ListeningKeywords],
    ) -> None:
        self._session = Session(catalog, options, **keywords)
        self._share(self._session)
        self._stack = ExitStack()
        _end_with_the_program(self)
        self._portal: BlockingPortal | None = self._stack.enter_context(start_blocking_portal("asyncio"))

    @classmethod
    def create(
        cls,
        catalog: Catalog | str | PathLike[str],
        options: SessionOptions | None = None,
        *,
        initial: str | Sequence[str] = (),
        **keywords: Unpack[ListeningKeywords],
    ) -> Self:
        """Return a session with the skills of `initial` loaded; see `Session.create`."""
        created = cls(catalog, options, **keywords)
        try:
            created.refresh()
            if initial:
                created.load(initial)
        except BaseException:
            created.close()
            raise
        return created

    call = _waited(Session.call)
    load = _waited(Session.load)
    unload = _waited(Session.unload)
    read = _waited(Session.read)
    run_script = _waited(Session.run_script)
    invoke = _waited(Session.invoke)
    user_call = _waited(Session.user_call)

    decide = _waited(Session.decide)
    fire = _waited(Session.fire)

    def events(self, since: int | None = None, *, seconds: float | None = None) -> Iterator[SessionEvent]:
        """Like `Session.events`, for a plain `for` loop. The stream also ends when this object is detached."""
        stream = self._wait(_made, partial(self._session.events, since, seconds=seconds))

        def following() -> Iterator[SessionEvent]:
            while self._portal is not None or self.is_closed:
                try:
                    event = self._wait(stream.next)
                except CancelledError:  # detached while waiting
                    return
                if event is None:
                    return
                yield event

        return following()

    replay = _waited(Session.replay)

    def instructions(self, budget: int | None = None, **options: Unpack[InstructionOptions]) -> str:
        """Refresh, then return `Session.instructions`."""
        return self.disclose(budget, **options).text

    def disclose(self, budget: int | None = None, **options: Unpack[InstructionOptions]) -> Disclosure:
        """Refresh, then return `Session.disclose`."""
        self.refresh(whole=False)
        return self._session.disclose(budget, **options)

    def cost(self, **options: Unpack[InstructionOptions]) -> Cost:
        """Refresh, then return `Session.cost`."""
        self.refresh(whole=False)
        return self._session.cost(**options)

    refresh = _waited(Session.refresh)

    def watch(self) -> None:
        """Like `Session.watch`, for a thread of its own. Returns when the session is closed or detached."""
        with suppress(CancelledError):
            self._wait(self._session.watch)

    def close(self) -> None:
        """Close the session as `Session.close` does, and end the thread."""
        try:
            self._wait(self._session.close)
        finally:
            self.detach()

    def detach(self) -> None:
        """End the thread and keep the session in its store, so that another process can continue it.

        Running calls of other threads are cancelled, so that no script outlives the code that called it.
        """
        portal, self._portal = self._portal, None
        if portal is not None:
            portal.call(portal.stop, True)  # noqa: FBT003 -- anyio's parameter: cancel remaining tasks
            self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._portal is not None:
            self.close()

    def _wait(self, function: Callable[..., Awaitable[T]], *args: object, **options: object) -> T:
        work = partial(function, *args, **options)
        if self._portal is not None:
            return _result_of(self._portal.start_task_soon(work))
        # After `close` there is no event loop. Use a new one for this call, so that `Session` raises its own error.
        with start_blocking_portal("asyncio") as portal:
            return _result_of(portal.start_task_soon(work))


def _result_of(future: Future[T]) -> T:
    """Wait for the result of a call, waking up regularly so that signals are handled.

    Python runs signal handlers between two steps of the main thread. A signal, such as Ctrl-C, may arrive just before
    the wait or in another thread. Without the regular wake-ups, such a signal would be handled only when the call
    returns.
    """
    while True:
        try:
            return future.result(_LOOK_UP_SECONDS)
        except TimeoutError:
            if future.done():  # the call itself raised TimeoutError
                return future.result()


async def _made(make: Callable[[], EventStream]) -> EventStream:
    return make()  # runs in the event loop's thread, because the stream creates anyio events


def _end_with_the_program(session: SyncSession) -> None:
    """Let a program exit even if it did not close its sessions.

    Python waits for worker threads before it runs exit handlers, and the workers wait for the event loop. So one more
    thread, shared by all sessions, waits for the main thread to end and then ends the loops.
    """
    _open.add(session)
    if _watching.acquire(blocking=False):  # acquired once and never released: starts one thread only
        threading.Thread(target=_detach_all, name="prowess-end-of-program").start()


def _detach_all() -> None:
    threading.main_thread().join()
    for session in list(_open):
        session.detach()
