"""A session inside an agent framework: the part that all adapters share, without any framework.

Before each model call, catalog and store are checked, and tools and instructions are created again, because loading a
skill changes both. Frameworks run the calls of one turn concurrently. This module runs them one after another, in the
order of their arrival, because a skill that the first call loads restricts the second.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Unpack

import anyio
from anyio import to_thread

from prowess.errors import InvalidArgumentsError, ToolNotAllowedError
from prowess.policy.decision import Ask, Deny, denial_of
from prowess.runtime.sync import SyncSession
from prowess.tools import ToolResult
from prowess.tools.prompt_escaping import sentence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from prowess.policy import Decision
    from prowess.runtime import Session
    from prowess.runtime.call_options import InstructionOptions
    from prowess.tools import ToolSpec


_SECONDS_TO_BEGIN = 1.0


class HostedSession:
    """One session, offered to one agent. `budget` and `options` are those of `Session.instructions`.

    A `SyncSession` is for hosts without an event loop. With a `SyncSession`, the async methods run the session in a
    thread, and a cancelled call is still awaited until it ends.
    """

    def __init__(
        self, session: Session | SyncSession, budget: int | None = None, **options: Unpack[InstructionOptions]
    ) -> None:
        self._session, self._budget, self._options = session, budget, options
        self._turn = anyio.Lock()
        self._turn_of_threads = threading.Lock()
        self._refreshing: anyio.Event | None = None

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools to offer, as of the last call or `refresh`."""
        options = self._options
        return self._session.tools(
            exposure=options.get("exposure"),
            budget=self._budget,
            task=options.get("task"),
            compact=options.get("compact"),
        )

    def instructions(self, before: str = "") -> str:
        """Return `before`, then the instructions of the session as of the last call or `refresh`."""
        ours = self._session.instructions(self._budget, **self._options)
        return "\n\n".join(part for part in (before.rstrip(), ours) if part)

    async def refresh(self) -> None:
        """Read catalog and store again. Call this before each model call. Concurrent callers share one refresh.

        Raises:
            SessionNotFoundError, StoreError: the session is gone, or the active skills cannot be determined.
        """
        if self._refreshing is not None:
            await self._refreshing.wait()
            return
        self._refreshing = done = anyio.Event()
        session = self._session
        try:
            if isinstance(session, SyncSession):
                await to_thread.run_sync(partial(session.refresh, whole=False))
            else:
                await session.refresh(whole=False)
        finally:
            self._refreshing = None
            done.set()

    async def call(self, name: str, arguments: Mapping[str, object], call_id: str | None = None) -> ToolResult:
        """Run one call through the executor, after all earlier calls have ended. Only cancellation raises."""
        session = self._session
        async with self._turn:
            if isinstance(session, SyncSession):
                return await to_thread.run_sync(partial(session.call, name, arguments, call_id))
            return await session.call(name, arguments, call_id)

    async def refusal(self, name: str, arguments: Mapping[str, object]) -> str | None:
        """Return why the active skills or the policy files refuse a call of a framework's tool; None if it may run.

        If a rule requires a person to be asked, the call is refused, because an adapter can ask no person.
        """
        session = self._session
        if isinstance(session, SyncSession):
            decided = await to_thread.run_sync(partial(session.decide, name, arguments, by_skills_alone=True))
        else:
            decided = await session.decide(name, arguments, by_skills_alone=True)
        return _reason(name, decided)

    def blocking(self) -> BlockingSession:
        """Return a blocking form of this session. Raise InvalidArgumentsError if it is no `SyncSession`."""
        if isinstance(self._session, SyncSession):
            return BlockingSession(self, self._session, self._turn_of_threads)
        advice = "a Session needs the framework's asynchronous calls (ainvoke, astream); use those, or a SyncSession"
        raise InvalidArgumentsError((advice,))


class BlockingSession:
    """The methods of `HostedSession` without an event loop. Calls from several threads run one after another."""

    def __init__(self, hosted: HostedSession, session: SyncSession, turn: threading.Lock) -> None:
        self._hosted, self._session, self._turn = hosted, session, turn

    def instructions(self, before: str = "") -> str:
        """Read catalog and store again, and return the instructions."""
        return self._hosted.instructions(before)  # a SyncSession refreshes itself in `instructions`

    def call(self, name: str, arguments: Mapping[str, object], call_id: str | None = None) -> ToolResult:
        """Run one call through the executor. Only an interrupt raises."""
        with self._turn:
            return self._session.call(name, arguments, call_id)

    def refusal(self, name: str, arguments: Mapping[str, object]) -> str | None:
        """Return why a tool of the framework may not be called; None if it may. See `HostedSession.refusal`."""
        return _reason(name, self._session.decide(name, arguments, by_skills_alone=True))


def unreadable(problem: str) -> ToolResult:
    """Return the result of a call whose arguments are not a JSON object. `problem` is the message."""
    return ToolResult.failed(InvalidArgumentsError((problem,)))


def _reason(name: str, decided: Decision) -> str | None:
    if isinstance(decided, Ask) and not decided.by_default:
        reason = f"{decided.reason}; a person must approve it, but the framework's own tools have no approval"
        decided = Deny(rule=decided.rule, reason=reason, skill=decided.skill)
    if not isinstance(decided, Deny):
        return None
    if decided.skill is None:
        return sentence(str(denial_of(decided, name)))
    return sentence(str(ToolNotAllowedError(name, decided.skill, decided.reason)))


class CallOrder:
    """Runs the calls of one message one after another, in the order of the model, whichever thread is faster.

    A framework starts all calls of a message at once. A call waits up to `seconds_to_begin` for the earlier calls to
    begin, then until all begun calls have ended. The first wait has a limit, because other code, such as another
    middleware, may answer an earlier call, which then never begins. Calls are identified by their ids.
    """

    def __init__(self, seconds_to_begin: float = _SECONDS_TO_BEGIN) -> None:
        self._seconds = seconds_to_begin
        self._changed = threading.Condition()
        self._begun: set[str] = set()
        self._ended: set[str] = set()

    @contextmanager
    def turn(self, call_id: str, before: Collection[str]) -> Iterator[None]:
        """Wait for the calls in `before`, then run the body of the `with` statement."""
        with self._changed:
            self._begun.add(call_id)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._begun.issuperset(before), timeout=self._seconds)
            awaited = self._begun.intersection(before)
            self._changed.wait_for(lambda: self._ended.issuperset(awaited))
        try:
            yield
        finally:
            with self._changed:
                self._ended.add(call_id)
                self._changed.notify_all()
