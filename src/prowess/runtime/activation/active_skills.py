"""The active skills of one session: which one a call means, their files as they were loaded, and edits of live ones."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import anyio
from anyio import to_thread
from msgspec.structs import replace

from prowess._internal.files.contained import check_relative
from prowess.errors import DigestChangedError, SkillNotActiveError, UnsafePathError
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
    """The active skills of one session, at most `cap`.

    `lineage` is the stack that a fork's session begins with, empty elsewhere. `loading` lets one load at a time read
    the disk, so that many requests for one skill read it once.
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
        """Return the active skill of this name, or the most recently loaded one.

        Raises:
            SkillNotActiveError: it is known but not loaded, or nothing is.
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
        # `deploy@acme-tools` names a copy; it is active only if that very copy is.
        if (found := state.find(entry.key)) is not None and found.location == entry.location:
            return found
        self._offered.require_open(name, entry.extended, "model")
        raise SkillNotActiveError(entry.name)

    async def completed(self, call: ToolCall) -> ToolCall:
        """Return a call with what it leaves to the session: the skill that it means, and its path as files are named.

        Whoever decides about the call then sees what the tool will do.

        Raises:
            SessionNotFoundError, StoreError: it is not known what is active.
        """
        if call.name not in _OF_ONE_SKILL:
            return call
        arguments = dict(call.arguments)
        if (
            not arguments.keys() & {"skill", "artifact"}
            and (latest := (await self.stored.current()).latest) is not None
        ):
            arguments["skill"] = latest.name
        if isinstance(path := arguments.get("path"), str):
            with suppress(UnsafePathError):  # the tool refuses it
                arguments["path"] = "/".join(check_relative(path)) or path
        return replace(call, arguments=arguments)

    async def with_files(
        self,
        skill: ActiveSkill,
        work: Callable[Concatenate[ActiveSkill, TreeManifest, P], T],
        *args: P.args,
        **options: P.kwargs,
    ) -> tuple[ActiveSkill, T, tuple[Notice, ...]]:
        """Do blocking `work` on an active skill and the hashes under which it was loaded.

        A skill whose source is live follows its author's edits: it is loaded anew, which a notice says.

        Raises:
            DigestChangedError: the files were edited, and the source is not live; also what `reload` raises.
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
        """Take a live skill as it is now if it was edited; DigestChangedError as in `reload`."""
        if self._offered.is_live(skill) and await to_thread.run_sync(self.snapshots.is_edited, skill):
            await self.reload(skill)

    async def reload(self, skill: ActiveSkill) -> ActiveSkill:
        """Take an edited live skill as it is now; it keeps its place.

        Raises:
            DigestChangedError: what it says now has hooks to pass or tools to find first, or may no longer be active by
                itself.
            SkillConflictError: it excludes now what is active.
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
