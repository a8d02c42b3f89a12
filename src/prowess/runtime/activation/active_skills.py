"""The active skills of one session: resolving names, access to their files as loaded, and reloading of edited ones."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import anyio
from anyio import to_thread
from msgspec.structs import replace

from prowess._internal.files.contained import check_relative
from prowess.catalog.layers import Layer
from prowess.errors import DigestChangedError, SkillNotActiveError, UnsafePathError
from prowess.policy.tool_names import ONE_SKILL_TOOLS, SKILL_ARGUMENTS, USER_TOOL
from prowess.runtime.activation import load_result
from prowess.runtime.events.event import SkillLoaded
from prowess.runtime.state import SessionState, Transition, loaded

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.runtime.activation.load_result import Notice
    from prowess.runtime.activation.snapshots import Snapshots
    from prowess.runtime.activation.stack import Stack
    from prowess.runtime.activation.visibility import Visibility
    from prowess.runtime.events.delivery import Events
    from prowess.runtime.session_state import StoredState
    from prowess.runtime.state import ActiveSkill
    from prowess.tools import ToolCall

    P = ParamSpec("P")
T = TypeVar("T")
_OF_ONE_SKILL = frozenset({"skills.read", "skills.run_script"})


class ActiveSkills:
    """The active skills of one session, at most `cap`. `lineage` is a fork's initial activation stack, else empty.

    The lock `loading` lets one load at a time read the disk, so that concurrent requests for a skill read it once.
    """

    def __init__(
        self,
        stored: StoredState,
        snapshots: Snapshots,
        offered: Visibility,
        events: Events,
        *,
        cap: int,
        lineage: Stack = (),
    ) -> None:
        self.stored, self.snapshots, self.cap, self.lineage = stored, snapshots, cap, lineage
        self._offered, self._events = offered, events
        self.loading = anyio.Lock(fast_acquire=True)

    async def choose(self, name: str | None) -> ActiveSkill:
        """Return the active skill of this name, or the most recently loaded one if `name` is None.

        Raises:
            SkillNotActiveError: the skill is listed but not active, or no skill is active.
            SkillNotFoundError: the catalog has no such skill.
        """
        state = await self.stored.current()
        if name is None:
            if state.latest is None:
                raise SkillNotActiveError(None)
            return state.latest
        if (found := state.named(name)) is not None:
            return found
        entry = await self._offered.listed(name)
        # `deploy@acme-tools` names one copy; another copy that is active does not count.
        if (found := state.find(entry.key)) is not None and found.location == entry.location:
            return found
        self._offered.require_open(name, entry.extended, "model")
        raise SkillNotActiveError(entry.name)

    async def completed(self, call: ToolCall) -> ToolCall:
        """Return the call with defaults of the session filled in: the skill that it refers to, and a normalised path.

        A skill that is named as `plugin/name` is renamed to `name@plugin`. Gates then see the call exactly as the tool
        will run it.

        Raises:
            SessionNotFoundError, StoreError: the state of the session cannot be read.
        """
        arguments = dict(call.arguments)
        for argument in {SKILL_ARGUMENTS.get(call.name), "skill_name" if call.name in ONE_SKILL_TOOLS else None}:
            if argument is not None and argument in arguments:
                arguments[argument] = self._renamed(arguments[argument], typed=call.name == USER_TOOL)
        if call.name not in _OF_ONE_SKILL:
            return replace(call, arguments=arguments) if arguments != call.arguments else call
        if (
            not arguments.keys() & {"skill", "artifact"}
            and (latest := (await self.stored.current()).latest) is not None
        ):
            arguments["skill"] = latest.name
        if isinstance(path := arguments.get("path"), str):
            with suppress(UnsafePathError):  # the tool itself refuses an unsafe path
                arguments["path"] = "/".join(check_relative(path)) or path
        return replace(call, arguments=arguments)

    def _renamed(self, value: object, *, typed: bool) -> object:
        """Return a skill's name, or a list of them, with `plugin/name` as `name@plugin` if there is such a copy."""
        if isinstance(value, list):
            return [self._renamed(item, typed=typed) for item in value]
        if not isinstance(value, str) or "/" not in value:
            return value
        # A user may type `/acme/deploy to production`.
        mark = value.strip()[:1] if typed and value.strip()[:1] in {"/", "$"} else ""
        name, blank, rest = value.strip()[1:].partition(" ") if mark else (value, "", "")
        entry = self._offered.catalog.find(name) if "/" in name else None
        if entry is None or entry.layer is not Layer.PLUGIN or entry.name == name:
            return value
        return f"{mark}{entry.qualified_name}{blank}{rest}"

    async def with_files(
        self,
        skill: ActiveSkill,
        work: Callable[Concatenate[ActiveSkill, TreeManifest, P], T],
        *args: P.args,
        **options: P.kwargs,
    ) -> tuple[ActiveSkill, T, tuple[Notice, ...]]:
        """Run blocking `work` in a thread, with an active skill and the hashes that it was loaded with.

        If the skill was edited and its source is live, it is reloaded first, and a notice reports that. Returns the
        skill, the result of `work` and the notices.

        Raises:
            DigestChangedError: the files were edited and the source is not live.
            Also everything that `reload` raises.
        """

        def with_manifest() -> T:
            return work(skill, self.snapshots.manifest(skill), *args, **options)

        try:
            return skill, await to_thread.run_sync(with_manifest), ()
        except DigestChangedError:
            if not self._offered.is_live(skill):
                raise
        skill = await self.reload(skill)
        return skill, await to_thread.run_sync(with_manifest), (load_result.reloaded(skill.name),)

    async def reload_edited(self, skill: ActiveSkill) -> None:
        """Reload a live skill if it was edited. Raises what `reload` raises."""
        if self._offered.is_live(skill) and await to_thread.run_sync(self.snapshots.is_edited, skill):
            await self.reload(skill)

    async def reload(self, skill: ActiveSkill) -> ActiveSkill:
        """Load an edited live skill again; it keeps its position among the active skills.

        Raises:
            DigestChangedError: the edited skill needs checks that only a new load makes (hooks, required tools), or is
                a fork now.
            SkillConflictError: the edited skill excludes another active skill.
            SkillNotActiveError: the skill was unloaded in the meantime.
        """
        async with self.loading:
            taken = await to_thread.run_sync(self.snapshots.take, skill.name, skill.location)
            fresh = replace(taken.skill, args=skill.args)
            fields, sidecar = taken.fields, taken.source.sidecar
            asks = sidecar.tools is not None or sidecar.closing_fault is not None
            if fields.hooks.entries or fields.unreadable or fields.context == "fork" or asks:
                raise DigestChangedError(skill.name, "SKILL.md")

            def replaced(state: SessionState) -> Transition:
                if state.find(skill.key) is None:
                    raise SkillNotActiveError(skill.name)
                return loaded(state, [fresh], "add", self.cap)

            await self.stored.change(replaced)
            await self._events.tell(SkillLoaded, None, fresh)
        return fresh
