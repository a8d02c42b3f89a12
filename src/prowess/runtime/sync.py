"""A session for programs without an event loop: the same `Session` behind one blocking portal.

Nothing is implemented twice. A thread runs the event loop; every method hands its call over and waits for the answer.
"""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Self, TypeVar, Unpack, overload
from weakref import WeakSet

from anyio.from_thread import start_blocking_portal

from prowess.runtime.session import Session

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Future
    from types import TracebackType

    from anyio.from_thread import BlockingPortal

    from prowess.catalog import Catalog
    from prowess.policy import Approval, ApprovalRequest, Decision, Refusal
    from prowess.runtime.activation.hooks import HookFailure, HostEvent
    from prowess.runtime.call_options import ExposureName, InstructionOptions, ReadOptions, RunOptions
    from prowess.runtime.disclosure.cost import Cost
    from prowess.runtime.disclosure.model_texts import Disclosure
    from prowess.runtime.events.delivery import EventObserver
    from prowess.runtime.events.event import SessionEvent
    from prowess.runtime.events.stream import EventStream
    from prowess.runtime.options import ListeningKeywords, SessionOptions
    from prowess.runtime.state import ActiveSkill, LoadMode
    from prowess.tools import ToolResult, ToolSpec
    from prowess.tools.functions.registry import F, FunctionOptions

_LOOK_UP_SECONDS = 0.1
_T = TypeVar("_T")
_open: WeakSet[SyncSession] = WeakSet()
_watching = threading.Lock()


class SyncSession:
    """`Session` without `await`; a context manager that closes the session at its end.

    The arguments are those of `Session`. `instructions` and `disclose` look at catalog and store first, so they are
    always up to date. Safe to use from several threads; calls then linearise as on any session.
    """

    def __init__(
        self, catalog: Catalog, options: SessionOptions | None = None, **keywords: Unpack[ListeningKeywords]
    ) -> None:
        self._session = Session(catalog, options, **keywords)
        self._stack = ExitStack()
        _end_with_the_program(self)
        self._portal: BlockingPortal | None = self._stack.enter_context(start_blocking_portal("asyncio"))

    @classmethod
    def create(
        cls,
        catalog: Catalog,
        options: SessionOptions | None = None,
        *,
        initial: Sequence[str] = (),
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

    @property
    def session_id(self) -> str:
        """As `Session.session_id`."""
        return self._session.session_id

    @property
    def catalog(self) -> Catalog:
        """As `Session.catalog`."""
        return self._session.catalog

    @property
    def active_skills(self) -> tuple[ActiveSkill, ...]:
        """As `Session.active_skills`."""
        return self._session.active_skills

    @property
    def is_closed(self) -> bool:
        """As `Session.is_closed`."""
        return self._session.is_closed

    @property
    def active_skill_name(self) -> str | None:
        """As `Session.active_skill_name`."""
        return self._session.active_skill_name

    def call(self, name: str, arguments: Mapping[str, object], call_id: str | None = None) -> ToolResult:
        """As `Session.call`."""
        return self._wait(self._session.call, name, arguments, call_id)

    def load(
        self, names: Sequence[str], mode: LoadMode = "replace", location: str | None = None
    ) -> Mapping[str, object]:
        """As `Session.load`."""
        return self._wait(self._session.load, names, mode, location)

    def unload(self, names: Sequence[str] = (), *, all: bool = False) -> Mapping[str, object]:  # noqa: A002 -- the protocol's own word
        """As `Session.unload`."""
        return self._wait(self._session.unload, names, all=all)

    def read(self, path: str | None = None, **options: Unpack[ReadOptions]) -> Mapping[str, object]:
        """As `Session.read`."""
        return self._wait(self._session.read, path, **options)

    def run_script(self, path: str, args: Sequence[str] = (), **options: Unpack[RunOptions]) -> Mapping[str, object]:
        """As `Session.run_script`."""
        return self._wait(self._session.run_script, path, args, **options)

    def invoke(self, skill: str, args: str | None = None, *, raw: bool = False) -> Mapping[str, object]:
        """As `Session.invoke`."""
        return self._wait(self._session.invoke, skill, args, raw=raw)

    def user_call(self, skill: str, args: str | None = None, *, raw: bool = False) -> ToolResult:
        """As `Session.user_call`."""
        return self._wait(self._session.user_call, skill, args, raw=raw)

    @overload
    def function(self, function: F, **options: Unpack[FunctionOptions]) -> F: ...

    @overload
    def function(self, function: None = None, **options: Unpack[FunctionOptions]) -> Callable[[F], F]: ...

    def function(self, function: F | None = None, **options: Unpack[FunctionOptions]) -> F | Callable[[F], F]:
        """As `Session.function`."""
        if function is None:
            return self._session.function(**options)
        return self._session.function(function, **options)

    def approve(self, request: str, answer: Approval | Refusal) -> ApprovalRequest:
        """As `Session.approve`."""
        return self._session.approve(request, answer)

    def decide(self, name: str, arguments: Mapping[str, object], *, by_skills_alone: bool = False) -> Decision:
        """As `Session.decide`."""
        return self._wait(self._session.decide, name, arguments, by_skills_alone=by_skills_alone)

    def completions(self, prefix: str = "") -> tuple[str, ...]:
        """As `Session.completions`."""
        return self._session.completions(prefix)

    def fire(self, event: HostEvent, **about: object) -> list[HookFailure]:
        """As `Session.fire`."""
        return self._wait(self._session.fire, event, **about)

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

    def replay(self, since: int = 0, limit: int = 1000) -> tuple[SessionEvent, ...]:
        """As `Session.replay`."""
        return self._wait(self._session.replay, since, limit)

    def observe(self, observer: EventObserver) -> None:
        """As `Session.observe`; it runs in the thread of the event loop."""
        self._session.observe(observer)

    def drain_events(self, seconds: float | None = None) -> bool:
        """Wait until `on_event` has seen what happened so far; False where that takes longer than `seconds`."""
        return self._session.drain_events(seconds)

    @overload
    def tools(
        self, shape: None = None, *, exposure: ExposureName | None = None, budget: int | None = None
    ) -> tuple[ToolSpec, ...]: ...

    @overload
    def tools(
        self, shape: str, *, exposure: ExposureName | None = None, budget: int | None = None
    ) -> list[dict[str, object]]: ...

    def tools(
        self, shape: str | None = None, *, exposure: ExposureName | None = None, budget: int | None = None
    ) -> tuple[ToolSpec, ...] | list[dict[str, object]]:
        """As `Session.tools`."""
        if shape is None:
            return self._session.tools(exposure=exposure, budget=budget)
        return self._session.tools(shape, exposure=exposure, budget=budget)

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

    def without_unloaded(self, messages: Sequence[object]) -> list[object]:
        """As `Session.without_unloaded`."""
        return self._session.without_unloaded(messages)

    def refresh(self) -> None:
        """As `Session.refresh`."""
        self._wait(self._session.refresh)

    def protected_messages(self, messages: Sequence[object]) -> tuple[int, ...]:
        """As `Session.protected_messages`."""
        return self._session.protected_messages(messages)

    def restore_after_compaction(self, budget: int | None = None) -> str:
        """As `Session.restore_after_compaction`."""
        return self._session.restore_after_compaction(budget)

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

    def _wait(self, function: Callable[..., Awaitable[_T]], *args: object, **options: object) -> _T:
        work = partial(function, *args, **options)
        if self._portal is not None:
            return _result_of(self._portal.start_task_soon(work))
        # Closed: the answer (no such session) still comes from the one implementation.
        with start_blocking_portal("asyncio") as portal:
            return _result_of(portal.start_task_soon(work))


def _result_of(future: Future[_T]) -> _T:
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
