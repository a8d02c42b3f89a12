"""Sessions: the active skills of one conversation, and the tools through which a model uses them.

Every call goes through `prowess.tools.ToolExecutor`, which validates, gates and audits the call and returns a result. A
session holds no messages. Switching skills changes the next instructions, never earlier messages (runtime protocol
002).
"""

from __future__ import annotations

from contextlib import suppress
from os import PathLike, fspath
from typing import TYPE_CHECKING, Self, Unpack
from weakref import finalize

from anyio import CancelScope, to_thread
from msgspec import convert

from prowess._internal.uuid7 import uuid7
from prowess.catalog.given_catalog import catalog_of
from prowess.errors import (
    DigestChangedError,
    InvalidArgumentsError,
    SkillError,
    ToolNotFoundError,
)
from prowess.policy.policy import decide_call
from prowess.policy.rule import PolicyCall
from prowess.runtime.activation.load_result import LoadResult
from prowess.runtime.catalog_changes import handle_changes
from prowess.runtime.disclosure.cost import Cost, ReadTokens, measured
from prowess.runtime.disclosure.skill_tool import InvokeResult, InvokeTool
from prowess.runtime.forks import Child
from prowess.runtime.options import SessionOptions
from prowess.runtime.script_output import output_to
from prowess.runtime.session_parts import SessionParts
from prowess.runtime.session_view import SessionView
from prowess.runtime.tools.read_result import ReadResult
from prowess.runtime.tools.run_result import RunResult
from prowess.tools import ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from prowess.catalog import Catalog
    from prowess.catalog.watching.skill_changes import SkillChange
    from prowess.policy import Decision
    from prowess.runtime.call_options import InstructionOptions, ReadOptions, RunOptions
    from prowess.runtime.disclosure.model_texts import Disclosure
    from prowess.runtime.events.event import SessionEvent
    from prowess.runtime.events.stream import EventStream
    from prowess.runtime.hooks.runner import HookFailure, HostEvent
    from prowess.runtime.options import ListeningKeywords
    from prowess.runtime.script_output import OutputChunk
    from prowess.runtime.session_parts import ForkOrigin
    from prowess.runtime.state import LoadMode
    from prowess.tools import ToolResult


class Session(SessionView):
    """The skills of one conversation, from a catalog or from a directory of skills.

    The options are those of `SessionOptions`, as keywords, as one value, or both; keywords take precedence. As an async
    context manager, the session is closed at the end of the block.

        async with Session("skills") as session:
            await session.load("csv-report")

    Raises:
        InvalidArgumentsError: the directory does not exist, or an option is invalid (see `SessionOptions`).
    """

    def __init__(
        self,
        catalog: Catalog | str | PathLike[str],
        options: SessionOptions | None = None,
        **keywords: Unpack[ListeningKeywords],
    ) -> None:
        chosen = SessionOptions.of(options, keywords)
        self._connect(chosen.view_of(catalog_of(catalog)), chosen)

    def _connect(self, catalog: Catalog, chosen: SessionOptions, origin: ForkOrigin | None = None) -> None:
        self._parts = parts = SessionParts(catalog, chosen, _open_fork, origin)
        self._catalog, self._exposed, self._in_results = catalog, chosen.exposure, chosen.body == "result"
        self._read_tokens = ReadTokens()
        self._is_detached = False
        if chosen.on_event is not None:
            finalize(self, parts.events.stop)

    @classmethod
    async def create(
        cls,
        catalog: Catalog | str | PathLike[str],
        options: SessionOptions | None = None,
        *,
        initial: str | Sequence[str] = (),
        **keywords: Unpack[ListeningKeywords],
    ) -> Self:
        """Return a session with the skills of `initial` loaded; the options are those of `Session`.

        Raise SkillError if a skill cannot be loaded; the session is then closed.
        """
        session = cls(catalog, options, **keywords)
        await session._parts.stored.current()
        if initial:
            try:
                await session.load(initial)
            except SkillError:
                await session.close()
                raise
        return session

    async def call(self, name: str, arguments: Mapping[str, object], call_id: str | None = None) -> ToolResult:
        """Run one tool call of a model. Errors are part of the result.

        `name` may be written with dots, underscores or hyphens. Every call, also a failing one, postpones the session's
        expiry. The time of the call is stored with a precision of 1/8 second.
        """
        return await self._call(ToolCall(id=uuid7() if call_id is None else call_id, name=name, arguments=arguments))

    async def _call(self, call: ToolCall) -> ToolResult:
        with await self._parts.begun():
            result = await self._parts.executor.call(call)
        await self._parts.organisation.note(result.cause)
        self._read_tokens.count(result)
        return result

    async def invoke(self, skill: str, args: str | None = None, *, raw: bool = False) -> InvokeResult:
        """Start a skill at the user's request; return the result of the `skill` tool, or raise its error.

        `skill` is a name, or the user's input such as `/deploy to production`. The user may start skills that are
        hidden from the model, but not those with `user-invocable: false`. The result always includes the content, even
        if the skill is already active. With `raw` the content is the whole file as written, otherwise its body.
        """
        return convert((await self.user_call(skill, args, raw=raw)).unwrap(), InvokeResult)

    async def user_call(self, skill: str, args: str | None = None, *, raw: bool = False) -> ToolResult:
        """Like `invoke`, but return a `ToolResult`. An error is part of the result."""
        arguments = {"skill": skill, "args": args, "raw": raw}
        call = ToolCall(id=uuid7(), name=InvokeTool.spec.name, arguments=arguments, trigger="user")
        with await self._parts.begun():
            result = await self._parts.user_executor.call(call)
        await self._parts.organisation.note(result.cause)
        return result

    async def decide(self, name: str, arguments: Mapping[str, object], *, by_skills_alone: bool = False) -> Decision:
        """Return the decision about a call of any tool. The session need not offer the tool.

        The tool is not run and no person is asked.

        With `by_skills_alone` the built-in policy is ignored: the decision depends only on the restrictions of the
        active skills and on policy files.

        Raises:
            SessionNotFoundError, StoreError: the active skills are unknown.
        """
        begun = await self._parts.begun()
        try:
            name, registered = self._parts.executor.resolve(name).spec.name, True
        except ToolNotFoundError:
            registered = False
        with begun, self._parts.policy.during_call() as policy:
            ready = await self._parts.completed(ToolCall(id="", name=name, arguments=arguments))
            call = PolicyCall(tool=name, arguments=ready.arguments, registered=registered, skills=ready.skills)
            ignored = by_skills_alone and not policy.may_deny
            active = await self._parts.guard.restrictions()
            return decide_call(call, active, None if ignored else policy, self._parts.guard.pattern_root)

    async def fire(self, /, event: HostEvent, **about: object) -> list[HookFailure]:
        """Run the hooks of active skills for an event that only the host can observe; return the failures.

        `about` is passed to the hooks. After a failure the other hooks still run and the session continues; the host
        decides how to react to the failure.
        """
        skills = (await self._parts.stored.current()).active
        return await self._parts.hooks.report(skills, event, uuid7(), about)

    def events(self, since: int | None = None, *, seconds: float | None = None) -> EventStream:
        """Return a stream of this session's events from now on, for `async for` by one reader.

        The stream ends with the session. With `seconds`, the stream also ends if no event occurs for that long. If the
        session keeps events, the stream includes events that other processes cause. With `since`, the stream starts
        with the kept events whose number is higher than `since` (0 for all). Without `since`, events of other processes
        are included from the first read on. A reader that is too slow receives the number of missed events. A slow
        reader delays neither the session nor other readers.

        Raises:
            InvalidArgumentsError: `since` is given, but the session keeps no events.
        """
        return self._parts.events.stream(since, seconds)

    async def replay(self, since: int = 0, limit: int = 1000) -> tuple[SessionEvent, ...]:
        """Return at most `limit` of the kept events whose number is higher than `since`.

        Raise InvalidArgumentsError if this session keeps no events, StoreError if the store cannot be read.
        """
        return await self._parts.events.replay(since, limit)

    async def load(
        self, names: str | Sequence[str], mode: LoadMode = "replace", location: str | None = None
    ) -> LoadResult:
        """Load one or several skills by name; return the result of `skills.load` or raise its error."""
        given = await self._do("skills.load", names=_listed(names), mode=mode, location=location)
        return convert(given, LoadResult)

    async def unload(self, names: str | Sequence[str] = (), *, all: bool = False) -> LoadResult:  # noqa: A002 -- the protocol's name for this argument
        """Unload one or several skills by name; return the result of `skills.unload` or raise its error."""
        return convert(await self._do("skills.unload", names=_listed(names), all=all), LoadResult)

    async def read(self, path: str | None = None, **options: Unpack[ReadOptions]) -> ReadResult:
        """Read a file of an active skill, or an artifact; return the result of `skills.read` or raise its error."""
        return convert(await self._do("skills.read", path=path, **options), ReadResult)

    async def run_script(
        self,
        path: str,
        *args: str | PathLike[str],
        on_output: Callable[[OutputChunk], object] | None = None,
        **options: Unpack[RunOptions],
    ) -> RunResult:
        """Run a script of an active skill with `args`; return the result of `skills.run_script` or raise its error.

            result = await session.run_script("scripts/report.py", "march.csv", timeout=60)
            print(result.stdout)

        `on_output` is called with each chunk of output as it arrives, one at a time. An async function runs in this
        event loop, a plain function in a worker thread. The script never waits for the callback: meanwhile output is
        collected, up to the size that the result keeps, and comes in larger chunks. After the script ends, the call
        waits up to five seconds for the callback; later chunks are dropped, but the result contains them. If the
        callback raises, the first exception is written to the log `prowess.events`; the run continues.

        Raises:
            InvalidArgumentsError: one of `args` is neither a string nor a path; pass a list as `*arguments`.
        """
        try:
            given = [fspath(arg) for arg in args]
        except TypeError as fault:
            problem = f"script arguments must be strings or paths; pass a list as *arguments: {fault}"
            raise InvalidArgumentsError((problem,)) from None
        with output_to(on_output):
            return convert(await self._do("skills.run_script", path=path, args=given, **options), RunResult)

    def instructions(self, budget: int | None = None, **options: Unpack[InstructionOptions]) -> str:
        """Return the instructions for the next model call, as of the last call or `refresh`; empty without skills.

        `budget` limits the list of available skills, in tokens (characters / 4); the default is 4000. If the names
        alone exceed it, the list has as many skills as fit and the number left out. Those that match `task` are
        preferred, then skills used in this session, then by `priority` and name. `compact` is a task description: then
        the list has only the best matches, in at most 1,024 bytes. `exposure` is how skills are presented to the
        model. `navigation` and `tool_system` each prepend a text of `prowess.runtime.disclosure.prompts`.
        """
        return self.disclose(budget, **options).text

    def disclose(self, budget: int | None = None, **options: Unpack[InstructionOptions]) -> Disclosure:
        """Return the instructions with the cost of each section and the names of skills with shortened descriptions.

        If a skill was edited on disk, the list of skills shows the edit at once. An active skill keeps the text that
        was loaded, and a note reports the edit.
        """
        with self._parts.policy.during_call():
            return self._parts.exposure.disclose(
                self._face(options.get("exposure")),
                [tool.spec for tool in self._parts.extra],
                budget=budget,
                navigation=options.get("navigation", False),
                tool_system=options.get("tool_system", False),
                task=options.get("task"),
                compact=options.get("compact"),
            )

    def cost(self, **options: Unpack[InstructionOptions]) -> Cost:
        """Return the token cost of this session for a model, by stage; the options are those of `instructions`."""
        return measured(
            self.disclose(**options),
            self._specs(options.get("exposure"), None, options.get("task"), options.get("compact")),
            self.active_skills,
            self._parts.rendering.text,
            self._read_tokens,
        )

    async def refresh(self, *, whole: bool = True) -> None:
        """Scan the catalog again and read the newest state from the store. Edits of live skills take effect.

        Without `whole`, the catalog is scanned only if a searched directory, a skill of the last list, or one of the
        next skills in turn has changed. So the time hardly depends on the number of skills.

        Raise SessionNotFoundError if the session has expired or was closed.
        """
        stored = self._parts.stored
        await to_thread.run_sync(self._catalog.refresh if whole else self._parts.lists.look)
        await stored.touch()
        for skill in (await stored.current()).active:
            with suppress(DigestChangedError):  # the skill needs a new load; the instructions contain a note about this
                await self._parts.active.reload_edited(skill)

    async def watch(self) -> None:
        """Keep the catalog up to date, and emit `catalog.changed` for each batch of changes (`Catalog.watch`).

        Runs until it is cancelled or the session is closed, so start it as a task: `tasks.start_soon(session.watch)`.
        Without a watch, a call notices changes of the skills that it concerns.
        """

        def batches(stopped: Callable[[], bool]) -> Generator[tuple[SkillChange, ...], None, None]:
            return self._catalog.watch(stopped=lambda: stopped() or self.is_closed)

        await handle_changes(batches, self._parts.report_changes)

    async def close(self) -> None:
        """End the session: run `post` hooks, delete state and artifacts.

        After that, calls raise `SessionNotFoundError`.
        """
        with suppress(SkillError):  # if the session or its store is gone, no skill is active any more
            active = (await self._parts.stored.current()).active
            await self._parts.hooks.report(active, "SessionEnd", uuid7(), {})
            await self._parts.activator.unload(None, uuid7(), "closed")
        self._parts.artifacts.close()
        await self._parts.stored.close()
        await self._parts.events.end()

    async def __aenter__(self) -> Self:
        """Return the session with its current state. Raise SessionNotFoundError or StoreError."""
        await self._parts.stored.current()
        return self

    async def __aexit__(self, *failure: object) -> None:
        if not self._is_detached:
            with CancelScope(shield=True):
                await self.close()

    def detach(self) -> None:
        """Keep the session in its store when the `async with` block ends, so that another process can continue it."""
        self._is_detached = True

    async def _do(self, tool: str, **arguments: object) -> Mapping[str, object]:
        given = {name: value for name, value in arguments.items() if value is not None}
        return (await self._call(ToolCall(id=uuid7(), name=tool, arguments=given, trigger="host"))).unwrap()


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _open_fork(catalog: Catalog, options: SessionOptions, origin: ForkOrigin) -> Child:
    """Open a fork's session. It has new state and artifacts; its parent's restrictions also apply."""
    session = Session.__new__(Session)
    session._connect(catalog, options, origin)  # noqa: SLF001 -- a session opens another session
    parts = session._parts  # noqa: SLF001 -- as above
    return Child(session=session, rendering=parts.rendering, activator=parts.activator)
