"""A session for programs without an event loop: the same `Session` behind one blocking portal.

Nothing is implemented twice. A thread runs the event loop; every method hands its call over and waits for the answer.
"""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from contextlib import ExitStack
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
    """Return a method of `Session` that waits for the answer."""

    @wraps(method)
    def waiting(self: SyncSession, /, *args: P.args, **options: P.kwargs) -> T:
        return self._wait(partial(method, self._session, *args, **options))

    return waiting


class SyncSession(SessionView):
    """`Session` without `await`; a context manager that closes the session at its end.

        with SyncSession("skills") as session:
            session.load("csv-report")

    The arguments are those of `Session`. `instructions` and `disclose` look at catalog and store first, so they are
    always up to date. Safe to use from several threads; calls then linearise as on any session.
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
        """Return a session in which the skills of `initial` are loaded, as `Session.create`."""
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
        """As `Session.events`, for `for`; it also ends where this object is detached."""
        stream = self._wait(_made, partial(self._session.events, since, seconds=seconds))

        def following() -> Iterator[SessionEvent]:
            while self._portal is not None or self.is_closed:
                try:
                    event = self._wait(stream.next)
                except CancelledError:  # detached while it waited
                    return
                if event is None:
                    return
                yield event

        return following()

    replay = _waited(Session.replay)

    def instructions(self, budget: int | None = None, **options: Unpack[InstructionOptions]) -> str:
        """As `Session.instructions`, after a refresh."""
        return self.disclose(budget, **options).text

    def disclose(self, budget: int | None = None, **options: Unpack[InstructionOptions]) -> Disclosure:
        """As `Session.disclose`, after a refresh."""
        self.refresh()
        return self._session.disclose(budget, **options)

    def cost(self, **options: Unpack[InstructionOptions]) -> Cost:
        """As `Session.cost`, after a refresh."""
        self.refresh()
        return self._session.cost(**options)

    refresh = _waited(Session.refresh)

    def close(self) -> None:
        """As `Session.close`; the thread ends too."""
        try:
            self._wait(self._session.close)
        finally:
            self.detach()

    def detach(self) -> None:
        """End the thread and leave the session in its store, for another process to continue.

        What still runs for another thread is cancelled, so that no script outlives its caller.
        """
        portal, self._portal = self._portal, None
        if portal is not None:
            portal.call(portal.stop, True)  # noqa: FBT003 -- anyio's own parameter: cancel what remains
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
        # Closed: the answer (no such session) still comes from the one implementation.
        with start_blocking_portal("asyncio") as portal:
            return _result_of(portal.start_task_soon(work))


def _result_of(future: Future[T]) -> T:
    """Wait for a call, and look up now and then for a signal that did not end the wait.

    Python notes a signal when it comes and answers it between two steps of the main thread. One that comes between the
    last step and the wait, or to another thread, would go unanswered for as long as the call takes: Ctrl-C too.
    """
    while True:
        try:
            return future.result(_LOOK_UP_SECONDS)
        except TimeoutError:
            if future.done():  # then it is the call's own
                return future.result()


async def _made(make: Callable[[], EventStream]) -> EventStream:
    return make()  # in the thread of the loop, where its waits are


def _end_with_the_program(session: SyncSession) -> None:
    """Let a program end that forgot to close its sessions.

    Python waits for worker threads before it runs exit handlers, and the workers wait for the event loop; so one more
    thread, shared by all sessions, waits for the main thread and then ends the loops.
    """
    _open.add(session)
    if _watching.acquire(blocking=False):  # taken once and never given back
        threading.Thread(target=_detach_all, name="prowess-end-of-program").start()


def _detach_all() -> None:
    threading.main_thread().join()
    for session in list(_open):
        session.detach()
