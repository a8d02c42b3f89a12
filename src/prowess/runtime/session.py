"""A session: which skills are in force in one conversation, and the tools that a model reaches them through.

Every call goes through one door (`prowess.tools.ToolExecutor`): validated, gated, audited, answered by a result. A
session holds no messages: switching skills changes the next instructions and never what was said before (runtime
protocol 002).
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self, Unpack

from anyio import to_thread

from prowess._internal.places import prowess_home
from prowess._internal.uuid7 import uuid7
from prowess.errors import InvalidArgumentsError, SkillError, SkillNotFoundError
from prowess.execution import default_sandbox
from prowess.runtime import compaction, disclosure
from prowess.runtime.artifacts import Artifacts
from prowess.runtime.context import SessionContext, is_there
from prowess.runtime.keeper import DEFAULT_TTL_SECONDS, StateKeeper
from prowess.runtime.snapshots import Snapshots
from prowess.runtime.tools.load import LoadTool
from prowess.runtime.tools.read import SCRIPTS, ReadTool
from prowess.runtime.tools.run_script import SPEC as RUN_SCRIPT
from prowess.runtime.tools.run_script import RunScriptTool
from prowess.runtime.tools.unload import UnloadTool
from prowess.store import MemorySessionStore
from prowess.tools import ToolCall, ToolExecutor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from prowess.catalog import Catalog
    from prowess.execution import Sandbox
    from prowess.policy import AuditLog
    from prowess.runtime.disclosure import Disclosure
    from prowess.runtime.options import Body, ReadOptions, RunOptions, SessionOptions
    from prowess.runtime.state import ActiveSkill, Mode
    from prowess.store import SessionStore
    from prowess.tools import Tool, ToolResult, ToolSpec

DEFAULT_CAP = 8
_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Session:
    """One conversation's skills.

    `store` keeps the state (default: the memory of this session alone); with `session_id` a session in that store is
    continued, or begun where there is none. At most `cap` skills are active; after `ttl_seconds` without a call the
    session is gone. `body` says where instructions of loaded skills stand: in `instructions()`, or in the load result
    for hosts whose instructions are fixed. `sandbox` defaults to the strongest of this machine; `scripts=False`
    switches scripts off. `workspace` is the directory that scripts work on, read-only unless `write`. With
    `expose_location=False` no path of this machine is shown. `artifacts_dir` defaults to `PROWESS_HOME/artifacts`;
    `audit` to none; `clock` gives seconds since the epoch.

    Raises:
        InvalidArgumentsError: `session_id` is not 1 to 128 letters, digits, `.`, `_`, `-`, or `cap` is below 1.
    """

    def __init__(
        self,
        catalog: Catalog,
        *,
        store: SessionStore | None = None,
        session_id: str | None = None,
        cap: int = DEFAULT_CAP,
        ttl_seconds: float = DEFAULT_TTL_SECONDS,
        body: Body = "instructions",
        sandbox: Sandbox | None = None,
        scripts: bool = True,
        audit: AuditLog | None = None,
        workspace: str | os.PathLike[str] | None = None,
        write: bool = False,
        expose_location: bool = True,
        artifacts_dir: str | os.PathLike[str] | None = None,
        extra_tools: Iterable[Tool] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._session_id = _checked_id(uuid7() if session_id is None else session_id)
        if cap < 1:
            raise InvalidArgumentsError(("cap must be at least 1",))
        artifacts = Artifacts(
            os.path.join(prowess_home(), "artifacts") if artifacts_dir is None else os.path.abspath(artifacts_dir),
            self._session_id,
        )

        async def ended(session_ids: list[str]) -> None:
            await to_thread.run_sync(artifacts.remove, session_ids)

        keeper = StateKeeper(
            MemorySessionStore() if store is None else store,
            self._session_id,
            ttl_seconds=ttl_seconds,
            listed=self._is_listed,
            ended=ended,
            clock=clock,
        )
        self._catalog = catalog
        self._context = SessionContext(
            session_id=self._session_id,
            catalog=catalog,
            keeper=keeper,
            snapshots=Snapshots(catalog),
            artifacts=artifacts,
            audit=audit,
            sandbox=(default_sandbox() if sandbox is None else sandbox) if scripts else None,
            workspace=None if workspace is None else os.path.abspath(workspace),
            write=write,
            cap=cap,
            body=body,
            expose_location=expose_location,
        )
        own = (LoadTool, UnloadTool, ReadTool, RunScriptTool)
        self._extra = tuple(extra_tools)
        self._executor = ToolExecutor(
            [*(tool(self._context) for tool in own), *self._extra], audit=audit, session_id=self._session_id
        )
        self._scripts_seen: tuple[int, bool] | None = None

    @classmethod
    async def create(cls, catalog: Catalog, *, initial: Sequence[str] = (), **options: Unpack[SessionOptions]) -> Self:
        """Return a session in which the skills of `initial` are loaded; the options are those of `Session`.

        Raises:
            SkillError: one of them cannot be loaded; then there is no session.
        """
        session = cls(catalog, **options)
        await session._context.keeper.current()
        if initial:
            try:
                await session.load(initial)
            except SkillError:
                await session.close()
                raise
        return session

    @property
    def session_id(self) -> str:
        """The identifier of the session, a UUID of version 7 unless the host chose one."""
        return self._session_id

    @property
    def catalog(self) -> Catalog:
        """The catalog that the session chooses from."""
        return self._catalog

    @property
    def active_skills(self) -> tuple[ActiveSkill, ...]:
        """The active skills, the most recently loaded last, as of the last call or `refresh`."""
        return self._context.keeper.state.active

    @property
    def active_skill_name(self) -> str | None:
        """The name of the most recently loaded skill."""
        latest = self._context.keeper.state.latest
        return None if latest is None else latest.name

    async def call(self, name: str, arguments: Mapping[str, object], call_id: str | None = None) -> ToolResult:
        """Run one tool call of a model; what goes wrong is in the result.

        `name` is dotted, underscored or hyphenated. Every call, a failing one too, postpones the session's expiry.
        """
        call = ToolCall(id=uuid7() if call_id is None else call_id, name=name, arguments=arguments)
        with suppress(SkillError):  # a store that fails is reported by the call itself, through the door
            await self._context.keeper.touch()
        return await self._executor.call(call)

    async def load(
        self, names: Sequence[str], mode: Mode = "replace", location: str | None = None
    ) -> Mapping[str, object]:
        """Load skills; return the receipt of `skills.load` or raise its error."""
        return await self._do("skills.load", names=list(names), mode=mode, location=location)

    async def unload(self, names: Sequence[str] = (), *, all: bool = False) -> Mapping[str, object]:  # noqa: A002 -- the protocol's own word
        """Unload skills; return the receipt of `skills.unload` or raise its error."""
        return await self._do("skills.unload", names=list(names), all=all)

    async def read(self, path: str | None = None, **options: Unpack[ReadOptions]) -> Mapping[str, object]:
        """Read a file of an active skill, or an artifact; return the result of `skills.read` or raise its error."""
        return await self._do("skills.read", path=path, **options)

    async def run_script(
        self, path: str, args: Sequence[str] = (), **options: Unpack[RunOptions]
    ) -> Mapping[str, object]:
        """Run a script of an active skill; return the result of `skills.run_script` or raise its error."""
        return await self._do("skills.run_script", path=path, args=list(args), **options)

    def tools(self) -> tuple[ToolSpec, ...]:
        """Return what to offer to a model; no schema holds a session id.

        Nothing of skills is offered where no skill is visible. `skills.run_script` is left out where nothing can be
        run: scripts are switched off, the sandbox cannot start, or no visible skill has a `scripts` directory (whether
        one does is looked up once for each state of the catalog).
        """
        own = self._executor.specs()[: -len(self._extra)] if self._extra else self._executor.specs()
        extra = tuple(tool.spec for tool in self._extra)
        if not self._catalog.entries():
            return extra
        runs = self._can_run_scripts()
        return tuple(spec for spec in own if runs or spec.name != RUN_SCRIPT.name) + extra

    def instructions(self, budget: int | None = None) -> str:
        """Return the instructions for the next model call, as of the last call or `refresh`; empty without skills.

        `budget` bounds the list of available skills, in tokens (characters / 4).
        """
        return self.disclose(budget).text

    def disclose(self, budget: int | None = None) -> Disclosure:
        """Return the instructions with what each section costs and which descriptions were shortened."""
        context = self._context
        listed = [
            disclosure.ListedSkill(
                name=entry.name,
                description=entry.description,
                location=entry.location if context.expose_location else None,
            )
            for entry in self._catalog.entries()
        ]
        in_results = context.body == "result"
        active = (
            []
            if in_results
            else [
                disclosure.ActiveBody(name=skill.name, body=context.snapshots.body(skill))
                for skill in self.active_skills
            ]
        )
        return disclosure.instructions(listed, active, bodies_in_results=in_results, budget=budget)

    async def refresh(self) -> None:
        """Scan the catalog again and take the newest state from the store; edits of live skills come into force.

        Raises:
            SessionNotFoundError: the session is gone.
        """
        context = self._context
        await to_thread.run_sync(self._catalog.refresh)
        await context.keeper.touch()
        for skill in (await context.keeper.current()).active:
            if context.is_live(skill) and await to_thread.run_sync(context.snapshots.is_edited, skill):
                await context.reload(skill)

    def protected_messages(self, messages: Sequence[object]) -> tuple[int, ...]:
        """Return the positions of messages to keep when a history is compacted: the newest body of each active skill.

        Messages may have any shape that is made of mappings, sequences and text; none is changed.
        """
        return compaction.protected(messages, [skill.name for skill in self.active_skills])

    def restore_after_compaction(self, budget: int | None = None) -> str:
        """Return the bodies of active skills that a compacted history has lost, the most recently loaded first.

        Empty with `body="instructions"`, where they stand in every call. `budget` bounds the text in tokens; bodies
        that do not fit are named instead.
        """
        context = self._context
        if context.body == "instructions":
            return ""
        bodies = [(skill.name, context.snapshots.body(skill)) for skill in reversed(self.active_skills)]
        return compaction.restored([(name, body) for name, body in bodies if body is not None], budget)

    async def close(self) -> None:
        """End the session: its state and artifacts are deleted, later calls find no session."""
        await self._context.keeper.close()

    async def _do(self, tool: str, **arguments: object) -> Mapping[str, object]:
        given = {name: value for name, value in arguments.items() if value is not None}
        return (await self.call(tool, given)).unwrap()

    def _is_listed(self, skill: ActiveSkill) -> bool:
        try:
            self._catalog.get(skill.name, skill.location)
        except SkillNotFoundError:
            return False
        return is_there(skill.location)

    def _can_run_scripts(self) -> bool:
        if self._context.sandbox is None or not self._context.sandbox.probe().available:
            return False
        generation = self._catalog.generation
        if self._scripts_seen is None or self._scripts_seen[0] != generation:
            found = any(os.path.isdir(os.path.join(entry.root_dir, SCRIPTS)) for entry in self._catalog.entries())
            self._scripts_seen = (generation, found)
        return self._scripts_seen[1]


def _checked_id(session_id: str) -> str:
    # It names a directory of artifacts, so it must not be able to name another place.
    if not _SESSION_ID.fullmatch(session_id):
        raise InvalidArgumentsError(
            ("session_id must be 1 to 128 letters, digits, '.', '_' or '-', and begin with a letter or digit",)
        )
    return session_id
