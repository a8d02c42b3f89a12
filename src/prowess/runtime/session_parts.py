"""The components of one session, created from its options."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.session_table import first_argument_setting
from prowess._internal.places import prowess_home
from prowess._internal.uuid7 import uuid7
from prowess.audit.caller import Caller, CallerLog
from prowess.errors import SkillError, ToolNotAllowedError
from prowess.execution import default_sandbox
from prowess.policy.policy_in_force import policy_of
from prowess.runtime.activation.activator import ActivationEvents, Activator
from prowess.runtime.activation.active_skills import ActiveSkills
from prowess.runtime.activation.call_skills import CallSkills
from prowess.runtime.activation.command_runner import CommandRunner
from prowess.runtime.activation.composition import KnownTools
from prowess.runtime.activation.freshness import Presence
from prowess.runtime.activation.rendering import Rendering
from prowess.runtime.activation.restrictions import Restrictions, default_mode
from prowess.runtime.activation.snapshots import SkillDirectory, Snapshots
from prowess.runtime.activation.visibility import Visibility
from prowess.runtime.disclosure.exposure import Exposure
from prowess.runtime.disclosure.shown_skills import ShownSkills
from prowess.runtime.disclosure.skill_tool import Invocation, InvokeTool, SkillTool
from prowess.runtime.events.delivery import EventCallback, Events, SessionRecords, report
from prowess.runtime.events.event import CatalogChanged, RestrictionPrevented, ToolFinished, ToolRefused, ToolStarted
from prowess.runtime.forks import ForkHost, ForkLauncher
from prowess.runtime.guard import Guard
from prowess.runtime.hooks.runner import HookRunner
from prowess.runtime.hooks.tool_hooks import HookedTool, ToolHookGate
from prowess.runtime.identity import beyond_record, caller_of, requester_of
from prowess.runtime.organisation import organisation_of
from prowess.runtime.scripts import Artifacts, SkillPrograms
from prowess.runtime.session_state import StoredState
from prowess.runtime.tools.list import SkillsListTool
from prowess.runtime.tools.load import LoadTool
from prowess.runtime.tools.load_results import LoadResults
from prowess.runtime.tools.read import ReadTool
from prowess.runtime.tools.run_script import RunScriptTool
from prowess.runtime.tools.unload import UnloadTool
from prowess.store import EventStore, MemorySessionStore
from prowess.tools import ToolExecutor, builtin
from prowess.tools.audit_sink import SinkLog
from prowess.tools.call_audit import AuditRecorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from prowess.catalog import Catalog
    from prowess.catalog.watching.skill_changes import SkillChange
    from prowess.execution import Sandbox
    from prowess.policy.approval import ApprovalMemory
    from prowess.policy.facts.requester import Requester
    from prowess.policy.restriction import Restriction
    from prowess.runtime.activation.stack import Stack
    from prowess.runtime.forks import AgentType, Child
    from prowess.runtime.options import SessionOptions
    from prowess.runtime.organisation import SessionOrganisation
    from prowess.runtime.state import ActiveSkill
    from prowess.tools import Gate, Tool, ToolCall
    from prowess.tools.call_audit import Outcome

    OpenFork = Callable[[Catalog, SessionOptions, "ForkOrigin"], Child]


class ForkOrigin(Struct, frozen=True, kw_only=True):
    """Data that a fork's session takes from its parent: events, activation stack, restrictions, refusals, and so on."""

    events: Events
    lineage: Stack
    inherited: tuple[Restriction, ...]
    approvals: ApprovalMemory
    who: Requester
    organisation: SessionOrganisation


class SessionParts:
    """The components of one session and their connections. `open_fork` opens the session of a fork."""

    def __init__(
        self, catalog: Catalog, options: SessionOptions, open_fork: OpenFork, origin: ForkOrigin | None = None
    ) -> None:
        self.session_id = uuid7() if options.session_id is None else options.session_id
        self._options, self._origin = options, origin
        self.organisation = organisation = organisation_of(options.store) if origin is None else origin.organisation
        caller = _caller(options, catalog, origin, organisation)
        self.policy = policy = policy_of(options.policy, self._requester(caller), organisation.source)
        store = MemorySessionStore() if options.store is None else options.store
        events = Events(
            self.session_id,
            clock=options.clock,
            store=store if isinstance(store, EventStore) else None,
            keep=options.keep_events,
            observers=options.observers,
            callback=None if options.on_event is None else EventCallback(options.on_event, report),
        )
        if origin is not None:
            events = origin.events.child(self.session_id)
        place = options.artifacts_dir or os.path.join(prowess_home(), "artifacts")
        self.artifacts = artifacts = Artifacts(os.path.abspath(place), self.session_id)
        stored = StoredState(
            store,
            self.session_id,
            ttl_seconds=options.ttl_seconds,
            listed=Presence(catalog).holds,
            ended=lambda ids: to_thread.run_sync(artifacts.remove, ids),
            expired=lambda state: self.hooks.over(state),  # noqa: PLW0108 -- the hooks are created below
            dropped=self._dropped,
            clock=options.clock,
        )
        if options.session_id is not None:
            stored.look()
        sandbox = default_sandbox() if options.sandbox is None and options.scripts else options.sandbox
        programs = SkillPrograms(
            session_id=self.session_id,
            sandbox=sandbox if options.scripts else None,
            policy=policy,
            workspace=None if options.workspace is None else os.fspath(options.workspace),
            write=options.write,
        )
        self.audit = audit = CallerLog(
            SinkLog(options.audit, policy, organisation.log),
            caller,
            lambda name: self._skills.about(name),  # noqa: PLW0108 -- created below
            self._beyond(caller),
        )
        records = SessionRecords(AuditRecorder(audit, self.session_id), events)
        snapshots = Snapshots(catalog)
        in_results, shown = options.body == "result", options.expose_location
        inherited, lineage = ((), ()) if origin is None else (origin.inherited, origin.lineage)
        self.events, self.stored, self.caller, self._known = events, stored, caller, KnownTools(options.host_tools)
        self.offered = Visibility(catalog, forks=options.fork_runner is not None, policy=policy)
        self.active = ActiveSkills(stored, snapshots, self.offered, events, cap=options.cap, lineage=lineage)
        self._skills = CallSkills(self.offered, stored, policy, audit)
        first = first_argument_setting() if options.first_argument is None else options.first_argument
        self.rendering = Rendering(snapshots, self.session_id, expose_location=shown, first_argument=first)
        self.restrictions = Restrictions(
            catalog, policy, options.allowed_tools, default_mode(options.profile), inherited
        )
        self.hooks = HookRunner(stored, snapshots, self.offered, programs, records)
        self.guard = Guard(
            policy,
            stored,
            self.restrictions,
            records,
            ToolHookGate(stored, self.hooks),
            approver=options.approver,
            pattern_root=options.pattern_root,
            has_own_log=options.audit is not None,
        )
        if origin is not None:
            # Approvals are for the parent only. Refusals are inherited: a fork must not ask until a person agrees.
            self.guard.approvals.inherit(origin.approvals.refusals())
        self._told = ActivationEvents(stored, records, self.restrictions)
        commands = CommandRunner(catalog, programs, records, allowed=options.commands, first_argument=first)
        self.activator = Activator(
            self.active, self.offered, self.hooks, self._told, commands=commands, tools=self._known
        )

        def open_child(
            lineage: Stack, inherited: tuple[Restriction, ...], agent: AgentType | None, root_dir: str
        ) -> Child:
            # None of these arguments gives access to this session.
            own = options.for_fork(
                () if agent is None else agent.tools,
                self.caller if agent is None else replace(self.caller, agent=agent.name),
            )
            given = ForkOrigin(
                events=events,
                lineage=lineage,
                inherited=inherited,
                approvals=self.guard.approvals,
                who=self._requester(self.caller),
                organisation=self.organisation,
            )
            return open_fork(_seen_in_fork(catalog, agent, root_dir), own, given)

        types = {kind.name: kind for kind in options.agent_types}
        host = ForkHost(runner=options.fork_runner, types=types, open_child=open_child)
        forks = ForkLauncher(host, self.active, self.restrictions, self.hooks, records)
        invocation = Invocation(self.activator, forks, self.offered, self.rendering, self.restrictions)
        results = LoadResults(self.restrictions, self.rendering, in_results=in_results)
        own: tuple[Tool, ...] = (
            LoadTool(self.activator, results),
            UnloadTool(self.activator, stored, self.offered, records, results),
            ReadTool(self.active, artifacts, programs, events),
            RunScriptTool(self.active, artifacts, programs, records, expose_location=shown),
            SkillTool(invocation),
            SkillsListTool(self.offered, stored, expose_location=shown),
        )
        self.extra = (*self._builtin_tools(options, sandbox), *options.extra_tools)
        self._known.add((*own, *self.extra))
        self.executor = self._make_executor((*own, *self.extra), self.guard.gates)
        self.user_executor = self._make_executor((InvokeTool(invocation),), self.guard.user_gates)
        self.lists = ShownSkills(self.offered, stored, expose_location=shown)
        self.exposure = Exposure(
            [tool.spec for tool in own],
            self.active,
            self.offered,
            self.lists,
            rendering=self.rendering,
            programs=programs,
            in_results=in_results,
        )

    def _builtin_tools(self, options: SessionOptions, sandbox: Sandbox | None) -> tuple[Tool, ...]:
        """Return the built-in tools that the host selected by name."""
        if not options.tools or options.workspace is None:
            return ()
        return builtin.builtin_tools(
            options.tools,
            workspace=options.workspace,
            write=options.write,
            sandbox=sandbox,
            readable=self.skill_directories,
            session_id=self.session_id,
        )

    def skill_directories(self) -> tuple[SkillDirectory, ...]:
        """Return the directories of active skills that the policy permits, with their files as loaded."""
        permitted = self.offered.permitted(self.stored.state.active)
        return tuple(SkillDirectory(skill=skill, snapshots=self.active.snapshots) for skill in permitted)

    def is_called_by(self, caller: Caller) -> None:
        """Replace the caller, for decisions and records from the next call on.

        The same caller is no change: another generation of the policy would make each request decide every list anew.
        """
        if caller == self.caller:
            return
        self.caller = caller
        self.policy.requested_by(self._requester(caller))
        self.audit.caller, self.audit.requester = caller, self._beyond(caller)

    def _requester(self, caller: Caller) -> Requester:
        return requester_of(caller, None if self._origin is None else self._origin.who)

    def _beyond(self, caller: Caller) -> Requester:
        return beyond_record(caller, self._requester(caller))

    def offer(self, tool: Tool) -> None:
        """Add a tool from the next call on. Raise ValueError if its name is in use."""
        self.executor.add(HookedTool(tool, self.stored, self.hooks))
        self.extra = (*self.extra, tool)
        self._known.add((tool,))

    def _make_executor(self, tools: Sequence[Tool], gates: Sequence[Gate]) -> ToolExecutor:
        """Return an executor for `tools`. Each tool is wrapped so that hooks run before and after it."""
        return ToolExecutor(
            [HookedTool(tool, self.stored, self.hooks) for tool in tools],
            gates=gates,
            audit=self.audit,
            session_id=self.session_id,
            observer=CallEvents(self.events, self.stored),
            policy=self.policy,
            complete=self.completed,
        )

    async def begun(self) -> AbstractContextManager[None]:
        """Postpone the expiry at the beginning of a call, and return the block in which the call runs.

        The row of the session has the generation of the organisation's decisions, so that costs no further query.
        """
        seen = None
        with suppress(SkillError):  # the call itself reports a failing store
            seen = await self.stored.touch()
        # A fork has a store of its own.
        return await self.organisation.during_call(seen if self._origin is None else None)

    async def completed(self, call: ToolCall) -> ToolCall:
        """Return the call with its skills and with default arguments. Raise SessionNotFoundError or StoreError."""
        return await self._skills.added(await self.active.completed(call))

    async def report_changes(self, changes: Iterable[SkillChange]) -> None:
        """Emit one event with the names of changed skills."""
        names: dict[str, list[str]] = {"added": [], "changed": [], "removed": []}
        for change in changes:
            names[change.event].append(change.name)
        added, changed, removed = map(tuple, names.values())
        await self.events.tell(CatalogChanged, None, added=added, changed=changed, removed=removed)

    async def _dropped(self, skills: Sequence[ActiveSkill]) -> None:
        await self.hooks.dropped(skills)
        await self._told.dropped(skills)


def _caller(
    options: SessionOptions, catalog: Catalog, origin: ForkOrigin | None, organisation: SessionOrganisation
) -> Caller:
    """Return the caller of a session. That of a fork comes from its parent, which knows who vouches for it."""
    if origin is not None and options.caller is not None:
        return options.caller
    return caller_of(options.caller, options.identity, catalog.audience, tenant=organisation.tenant)


def _seen_in_fork(catalog: Catalog, agent: AgentType | None, root_dir: str) -> Catalog:
    """Return the catalog as a fork sees it: by its agent type, and always with the skill that it runs."""
    return catalog if agent is None else catalog.seen_by(agent=agent.name, also=root_dir)


class CallEvents:
    """A `CallObserver` that emits session events. An event names the skill loaded last, or the skill that refuses."""

    def __init__(self, events: Events, stored: StoredState) -> None:
        self._events, self._stored = events, stored

    @property
    def wanted(self) -> bool:
        """Whether events have a listener."""
        return self._events.wanted

    async def started(self, call: ToolCall) -> None:
        """Emit `tool.started`."""
        content = {"arguments": call.arguments}
        await self._events.tell(ToolStarted, call.id, self._stored.state.latest, content=content, tool=call.name)

    async def finished(
        self, call: ToolCall, outcome: Outcome, code: str | None, duration_ms: int, result: Mapping[str, object] | None
    ) -> None:
        """Emit `tool.finished`."""
        await self._events.tell(
            ToolFinished,
            call.id,
            self._stored.state.latest,
            content={} if result is None else {"result": result},
            tool=call.name,
            outcome=outcome,
            code=code,
            duration_ms=duration_ms,
        )

    async def refused(self, tool: str, call_id: str, code: str, rule: str | None, skill: str | None) -> None:
        """Emit `tool.refused`, and `restriction.prevented` if a skill restricts the tool."""
        state = self._stored.state
        by = state.latest if skill is None else state.named(skill) or skill
        await self._events.tell(ToolRefused, call_id, by, tool=tool, code=code, rule=rule)
        if code == ToolNotAllowedError.code:
            await self._events.tell(RestrictionPrevented, call_id, by, tool=tool, reason=rule)
