"""What the tools of one session share: its state, its snapshots, its artifacts, and what the host has decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import anyio
from anyio import to_thread
from msgspec import Struct, field
from msgspec.structs import replace

from prowess.errors import DigestChangedError, SkillNotActiveError, SkillNotFoundError
from prowess.format.name import SkillName
from prowess.policy.approval import ApprovalMemory
from prowess.policy.restriction import Restriction, RestrictionMode
from prowess.runtime.activation.composition import KnownTools
from prowess.runtime.activation.rendering import Rendering
from prowess.runtime.activation.stack import MAX_DEPTH
from prowess.runtime.events.event import SkillLoaded
from prowess.runtime.state import SessionState, Transition, loaded

if TYPE_CHECKING:
    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.catalog import Catalog, SkillEntry
    from prowess.runtime.activation.snapshots import Snapshots
    from prowess.runtime.activation.stack import Stack
    from prowess.runtime.activation.visibility import By, Offer, Visibility
    from prowess.runtime.events.delivery import Events, SessionRecords
    from prowess.runtime.options import Body
    from prowess.runtime.scripts.artifacts import Artifacts
    from prowess.runtime.scripts.skill_process import SkillPrograms
    from prowess.runtime.session_state import StoredState
    from prowess.runtime.state import ActiveSkill

AllowedToolsMode = Literal["restrict", "preapprove", "ignored"]


class SessionContext(Struct, kw_only=True):
    """What the tools of one session share.

    `commands` tells whether commands in bodies are run, `mode` how `allowed-tools` is read. `lineage` is the stack that
    a fork's session begins with, `inherited` what restricts it from outside; both are empty elsewhere. `approvals`
    remembers what people answered. `loading` lets one load at a time read the disk, so that many requests for one skill
    read it once.
    """

    session_id: str
    catalog: Catalog
    stored: StoredState
    snapshots: Snapshots
    artifacts: Artifacts
    records: SessionRecords
    programs: SkillPrograms
    cap: int
    body: Body
    expose_location: bool
    visibility: Visibility
    events: Events
    commands: bool = False
    mode: RestrictionMode = "restrict"
    max_depth: int = MAX_DEPTH
    lineage: Stack = ()
    inherited: tuple[Restriction, ...] = ()
    approvals: ApprovalMemory = field(default_factory=ApprovalMemory)
    rendering: Rendering = field(default_factory=Rendering)
    tools: KnownTools = field(default_factory=KnownTools)
    loading: anyio.Lock = field(default_factory=lambda: anyio.Lock(fast_acquire=True))

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
        if (found := find_active(state, name)) is not None:
            return found
        entry = await self.listed(name)
        # `deploy@acme-tools` names a copy; it is active only if that very copy is.
        if (found := state.find(entry.key)) is not None and found.location == entry.location:
            return found
        self.visibility.require_open(name, entry.extended, "model")
        raise SkillNotActiveError(entry.name)

    async def offered(self, name: str, location: str | None = None, by: By = "model") -> Offer:
        """Return a skill that the model, or the user, may start.

        Raises:
            SkillNotFoundError, InvalidArgumentsError: see `Visibility.require_open` and `listed`.
        """
        entry = self._known(name, location) or await self._scanned(name, location, by)
        return self.visibility.offer(entry, name, by)

    async def listed(self, name: str, location: str | None = None, by: By = "model") -> SkillEntry:
        """Return the catalog's entry; what a scan may have missed since is looked for once more after a new one.

        Raises:
            SkillNotFoundError: with suggestions, and the reason where a broken copy is known.
        """
        return self._known(name, location) or await self._scanned(name, location, by)

    def _known(self, name: str, location: str | None) -> SkillEntry | None:
        try:
            entry = self.catalog.get(name, location)
        except SkillNotFoundError:
            return None
        return entry if entry.is_current() else None

    async def _scanned(self, name: str, location: str | None, by: By) -> SkillEntry:
        await to_thread.run_sync(self.catalog.refresh)
        try:
            return self.catalog.get(name, location)
        except SkillNotFoundError as error:
            raise self.visibility.not_found(error, by) from None

    async def manifest(self, skill: ActiveSkill) -> TreeManifest:
        """Return the hashes under which the skill was loaded (see `Snapshots.manifest`)."""
        return await to_thread.run_sync(self.snapshots.manifest, skill)

    def is_live(self, skill: ActiveSkill) -> bool:
        """Tell whether edits of this skill take effect without a new load, as in its author's own directory."""
        try:
            return self.catalog.get(skill.name, skill.location).live
        except SkillNotFoundError:
            return False

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
            sidecar = taken.source.sidecar
            asks = sidecar.tools is not None or sidecar.closing_fault is not None
            fields = taken.fields
            if fields.hooks.entries or fields.unreadable or fields.context == "fork" or asks:
                raise DigestChangedError(skill.name, "SKILL.md")

            def replaced(state: SessionState) -> Transition:
                if state.find(skill.key) is None:
                    raise SkillNotActiveError(skill.name)
                return loaded(state, [fresh], "add", self.cap)

            await self.stored.change(replaced)
            await self.events.tell(SkillLoaded, None, fresh)
        return fresh

    def rendered(self, skill: ActiveSkill) -> str | None:
        """Return the body as it is in force: placeholders replaced, outputs of commands in their places. Blocking."""
        body = self.snapshots.body(skill)
        if body is None:
            return None
        return self.rendering.text(skill, body, session_id=self.session_id, expose_location=self.expose_location)

    def restrictions(self, state: SessionState) -> tuple[Restriction, ...]:
        """Return what restricts a call: every active skill, and for a fork everything that restricted its parent."""
        return (*self.inherited, *(self.restriction(skill) for skill in state.active))

    def restriction(self, skill: ActiveSkill) -> Restriction:
        """Return what one skill says about tools, bound to the bytes that say it."""
        digest = skill.digest or skill.content_digest
        tools = None if self.mode_of(skill) == "ignored" else skill.allowed_tools
        return Restriction.of_field(skill.name, tools, mode=self.mode, digest=digest)

    def mode_of(self, skill: ActiveSkill) -> AllowedToolsMode | None:
        """Return how the `allowed-tools` of one skill are read; None where it has none.

        `ignored`: a skill of another server, or one whose origin is not known any more, approves nothing in advance.
        """
        if skill.allowed_tools is None:
            return None
        if self.mode == "restrict":
            return "restrict"
        try:
            origin = self.catalog.get(skill.name, skill.location).origin
        except SkillNotFoundError:
            return "ignored"
        return "preapprove" if origin is None else "ignored"


def find_active(state: SessionState, name: str) -> ActiveSkill | None:
    """Return the active skill of this name, compared after normalisation."""
    return state.find(SkillName.of(name).text)
