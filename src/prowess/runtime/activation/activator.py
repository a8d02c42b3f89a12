"""Activates and unloads the skills of a session.

Every activation takes this path, whether the model asks (`skills.load` or the `skill` tool), the user, or a fork:

1. Read the skill as it is on disk now. Check that the caller may start it, that the session has room, that its required
   tools exist, and that it conflicts with no other skill.
2. Check that its hooks can run, and run its `pre` hooks.
3. Run the commands in its body.
4. Commit the new state in one step: the body is disclosed and the tool restriction applies.

A refusal at any step leaves the session unchanged. The `post` hooks of a skill run when it is unloaded or replaced. The
order follows platform requirements 003, skill discovery flow: a skill that a hook refuses is not disclosed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from prowess.errors import InvalidArgumentsError, SkillError, SkillNotFoundError
from prowess.format.limits import may_hold_commands
from prowess.runtime.activation import load_result
from prowess.runtime.activation.stack import entered
from prowess.runtime.disclosure.model_texts import estimate_tokens
from prowess.runtime.events.event import RestrictionChanged, SkillActivating, SkillLoading, SkillUnloaded
from prowess.runtime.state import Transition, loaded, require_room, unloaded

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from prowess.catalog import SkillEntry
    from prowess.format.fields.extended_fields import ExtendedFields
    from prowess.policy.restriction import Restriction
    from prowess.runtime.activation.active_skills import ActiveSkills
    from prowess.runtime.activation.command_runner import CommandRunner
    from prowess.runtime.activation.composition import KnownTools
    from prowess.runtime.activation.load_result import Notice
    from prowess.runtime.activation.restrictions import Restrictions
    from prowess.runtime.activation.snapshots import Snapshot
    from prowess.runtime.activation.visibility import By, Visibility
    from prowess.runtime.events.delivery import SessionRecords
    from prowess.runtime.hooks.runner import HookFailure, HookRunner
    from prowess.runtime.session_state import StoredState
    from prowess.runtime.state import ActiveSkill, LoadMode, SessionState


class Activation(Struct, kw_only=True):
    """The result of an activation: the state transition, the snapshots that were read, and the notices."""

    step: Transition
    taken: tuple[Snapshot, ...]
    notices: tuple[Notice, ...]

    def fresh(self) -> tuple[Snapshot, ...]:
        """Return the snapshots of skills whose body is new to the session."""
        return tuple(snapshot for snapshot in self.taken if snapshot.skill.name not in self.step.repeated)


class Activator:
    """Activates and unloads the skills of one session."""

    def __init__(
        self,
        active: ActiveSkills,
        offered: Visibility,
        hooks: HookRunner,
        events: ActivationEvents,
        *,
        commands: CommandRunner,
        tools: KnownTools,
    ) -> None:
        self._active, self._offered, self._hooks = active, offered, hooks
        self._commands, self._tools, self._events = commands, tools, events

    async def load(self, names: Sequence[str], mode: LoadMode, location: str | None, call_id: str) -> Activation:
        """Activate skills side by side for the model: all of them or none.

        Raises:
            SkillNotFoundError, LimitExceededError, InvalidArgumentsError, SkillParseError, SessionNotFoundError,
            SkillConflictError, RequiredToolError, HookFailedError: the session is unchanged.
        """
        active = self._active
        async with active.loading:
            before = await active.stored.current()
            offers = {entry.key: entry for entry in await self._asked(names, location)}
            if mode == "add" or len(offers) > active.cap:
                require_room([skill.key for skill in before.active], offers, mode, active.cap)
            # With `add` and without `location`, an active skill of this name stays, even if it is another copy.
            others = {} if location is not None or mode == "replace" else _other_copies(before, offers)
            taken = [await self.take(entry, call_id) for key, entry in offers.items() if key not in others]
            self._require_open(taken)

            def step(state: SessionState, ready: Sequence[ActiveSkill]) -> Transition:
                return loaded(state, ready, mode, active.cap)

            activation = await self._activate(before, taken, step, call_id)
        if not others:
            return activation
        kept = (load_result.kept_copy(skill) for skill in others.values())
        return replace(activation, notices=(*kept, *activation.notices))

    async def _asked(self, names: Sequence[str], location: str | None) -> list[SkillEntry]:
        asked = [await self._offered.offered(name, location) for name in names]
        for entry in asked:
            require_no_fork(entry.name, entry.extended)
        return asked

    def _require_open(self, taken: Sequence[Snapshot]) -> None:
        """Check the fields that were just read from disk; the catalog may have listed older ones."""
        for snapshot in taken:
            self._offered.require_open(snapshot.skill.name, snapshot.fields, "model")
            require_no_fork(snapshot.skill.name, snapshot.fields)

    async def enter(self, entry: SkillEntry, args: str | None, call_id: str, by: By) -> Activation:
        """Activate one skill, nested in the skill on top of the activation stack.

        If a user starts the skill, a new stack begins. If the skill is on top of the stack already, unchanged and with
        the same arguments, the call is a repetition and changes nothing.

        Raises:
            ActivationCycleError: the skill is further down in the stack already.
            LimitExceededError: too many skills are active or nested.
            Also everything that `load` raises.
        """
        active = self._active
        async with active.loading:
            before = await active.stored.current()
            snapshot = await self.take(entry, call_id, by)
            self._offered.require_open(entry.name, snapshot.fields, by)
            require_no_fork(entry.name, snapshot.fields)
            require_room([skill.key for skill in before.active], [entry.key], "add", active.cap)
            snapshot = replace(snapshot, skill=replace(snapshot.skill, args=args))

            def step(state: SessionState, ready: Sequence[ActiveSkill]) -> Transition:
                (skill,) = ready
                top = state.stack[-1:] == (skill.key,)
                lineage = len(active.lineage)
                stack = (*active.lineage, *(() if by == "user" else state.stack))
                nested = stack if top and by == "model" else entered(stack, skill.key)
                change = loaded(state, [skill], "add", active.cap)
                if by == "model" and not top and change.repeated and skill.key not in state.stack:
                    nested = stack  # the skill was activated by a plain load, which does not nest
                return replace(change, state=replace(change.state, stack=nested[lineage:]))

            step(before, [snapshot.skill])  # refuses before any hook has run
            return await self._activate(before, [snapshot], step, call_id)

    async def adopt(self, snapshot: Snapshot, args: str | None, call_id: str) -> Activation:
        """Activate the skill of a fork in the fork's own session."""
        active = self._active
        adopted = replace(snapshot, skill=replace(snapshot.skill, args=args))
        await to_thread.run_sync(active.snapshots.keep, adopted)
        async with active.loading:
            before = await active.stored.current()
            return await self._activate(
                before, [adopted], lambda state, ready: loaded(state, ready, "add", active.cap), call_id
            )

    async def unload(
        self, keys: Collection[str] | None, call_id: str, reason: str = "unloaded"
    ) -> tuple[Transition, tuple[Notice, ...]]:
        """Run the `post` hooks of skills and deactivate them, even if a hook fails. `reason` is recorded.

        `keys` are the comparison keys of the skills; None means all.
        """
        active = self._active
        async with active.loading:
            before = await active.stored.current()
            failures = await self._ended(
                [skill for skill in before.active if keys is None or skill.key in keys], call_id
            )
            step = await active.stored.change(
                lambda state: unloaded(state, {skill.key for skill in state.active} if keys is None else keys)
            )
            await self._events.left(before, step, call_id, reason)
        active.snapshots.keep_only(step.state.active)
        return step, tuple(load_result.hook_failed(failure.skill, failure.message) for failure in failures)

    async def _activate(
        self,
        before: SessionState,
        taken: Sequence[Snapshot],
        step: Callable[[SessionState, Sequence[ActiveSkill]], Transition],
        call_id: str,
    ) -> Activation:
        active = self._active
        fresh: list[Snapshot] = []
        plain = True
        for snapshot in taken:
            if not before.active or not _is_repeated(before, snapshot.skill):
                fresh.append(snapshot)
                plain = plain and snapshot.is_plain
        notices = [] if plain else self._tools.require(fresh)
        for snapshot in fresh:
            notices += load_result.field_read_as(snapshot.skill)
            skill = snapshot.skill
            notices += [load_result.too_old(skill.name, why) for why in self._offered.old_deployments(skill)]
        ready, skills = list(taken), [snapshot.skill for snapshot in taken]
        planned = step(before, skills)  # a conflict between skills is refused before any hook runs
        if not plain or self._events.records.events.wanted:
            await self._prepare(fresh, call_id)
        if not plain:
            notices += [load_result.hidden_removed(one.skill.name) for one in fresh if one.hides_something]
            notices += await self._run_commands(ready, fresh, call_id)
            skills = [snapshot.skill for snapshot in ready]
            planned = step(before, skills)

        def change(state: SessionState) -> Transition:
            for skill in skills:
                # A skill that was removed from the catalog while it was read must not become active. Skills that are
                # active already were checked a moment ago.
                if state.find(skill.key) is not skill and not active.stored.is_listed(skill):
                    raise SkillNotFoundError(skill.name, reason="it was removed while it was being loaded")
            return planned if state is before else step(state, skills)

        failures: list[HookFailure] = []
        if leaving := planned.unloaded:
            change(before)  # refuses removed skills before any `post` hook runs
            failures = await self._ended([skill for skill in before.active if skill.name in leaving], call_id)
        done = await active.stored.change(change)
        active.snapshots.keep_only(done.state.active)
        sizes = (
            {one.skill.name: estimate_tokens(one.source.body) for one in ready} if self._events.records.has_log else {}
        )
        await self._events.loaded(before, done, skills, call_id, sizes)
        activation = self._activation(done, skills, notices, failures)
        return Activation(step=done, taken=tuple(ready), notices=activation)

    async def _run_commands(self, ready: list[Snapshot], fresh: Sequence[Snapshot], call_id: str) -> list[Notice]:
        """Run the commands in the bodies of `fresh`, and put snapshots with their outputs into `ready`."""
        remarks: list[Notice] = []
        for place, snapshot in enumerate(ready):
            if may_hold_commands(snapshot.source.body) and snapshot in fresh:
                skill, activation = await self._commands.run(snapshot, call_id)
                ready[place] = replace(snapshot, skill=skill)
                remarks += activation
        return remarks

    async def _prepare(self, fresh: Sequence[Snapshot], call_id: str) -> None:
        """Send `skill.activating` events for these skills and run their `pre` hooks."""
        for snapshot in fresh:
            self._hooks.require_runnable(snapshot)
        for snapshot in fresh:
            await self._events.records.events.tell(SkillActivating, call_id, snapshot.skill)
        await self._pass_hooks(fresh, call_id)

    def _activation(
        self,
        done: Transition,
        skills: Sequence[ActiveSkill],
        notices: Sequence[Notice],
        failures: Sequence[HookFailure],
    ) -> tuple[Notice, ...]:
        """Return all notices, the most important first. Usually there are none."""
        taken_away = self._active.stored.take_removed()
        digested = True
        for skill in skills:
            digested = digested and skill.digest is not None
        if digested and not (taken_away or done.changed or failures):
            return tuple(notices)
        return (
            *(load_result.removed(skill) for skill in taken_away if skill.name not in done.state.names),
            *(load_result.reloaded(name) for name in done.changed),
            *(load_result.not_digestible(skill) for skill in skills if skill.digest is None),
            *notices,
            *(load_result.hook_failed(failure.skill, failure.message) for failure in failures),
        )

    async def _pass_hooks(self, fresh: Sequence[Snapshot], call_id: str) -> None:
        passed: list[ActiveSkill] = []
        try:
            for snapshot in fresh:
                await self._hooks.require(snapshot.skill, "pre", call_id, {"args": snapshot.skill.args})
                passed.append(snapshot.skill)
        except SkillError:
            await self._ended(passed, call_id)  # undo the preparation of skills that will not be activated
            raise

    async def _ended(self, skills: Sequence[ActiveSkill], call_id: str) -> list[HookFailure]:
        return await self._hooks.report(skills, "post", call_id, {})

    async def take(self, entry: SkillEntry, call_id: str, by: By = "model") -> Snapshot:
        """Send the event `skill.loading`, then read a listed skill as it is on disk now.

        Raise PolicyDeniedError if the policy denies the files that were read, and the errors of `Snapshots.take`.
        """
        events, snapshots = self._events.records.events, self._active.snapshots
        if events.wanted:
            await events.tell(SkillLoading, call_id, entry.name)
        # Use a thread only if files must be read: an unchanged skill costs a few `stat` calls.
        if (taken := snapshots.retake(entry)) is None:
            taken = await to_thread.run_sync(snapshots.take, entry.name, entry.location)
        self._offered.require_permitted(taken.skill, by)
        return taken


def require_no_fork(name: str, fields: ExtendedFields) -> None:
    """Refuse to load a skill that runs in a sub-agent: raise InvalidArgumentsError that names the call to use."""
    if fields.context == "fork":
        problem = (
            f"skill {name!r} runs in a sub-agent of its own (context: fork) and is never loaded; "
            f'call the tool skill with {{"skill": "{name}", "args": "what it shall do"}}'
        )
        raise InvalidArgumentsError((problem,))


def _is_repeated(state: SessionState, skill: ActiveSkill) -> bool:
    """Whether this skill is active already, with the same files. Arguments must be equal if `skill` has any."""
    known = state.find(skill.key)
    return known is not None and skill.same_activation(known)


def _other_copies(state: SessionState, offers: Mapping[str, SkillEntry]) -> dict[str, ActiveSkill]:
    return {
        skill.key: skill
        for skill in state.active
        if skill.key in offers and skill.location != offers[skill.key].location
    }


class ActivationEvents:
    """Records and reports changes of one session's active skills: loaded, unloaded, and changed restrictions."""

    def __init__(self, stored: StoredState, records: SessionRecords, restrictions: Restrictions) -> None:
        self._stored, self.records, self._restrictions = stored, records, restrictions

    async def loaded(
        self,
        before: SessionState,
        done: Transition,
        skills: Sequence[ActiveSkill],
        call_id: str,
        tokens: Mapping[str, int],
    ) -> None:
        """Record the skills that this transition loaded, and report the ones that it replaced.

        `tokens` are the estimated tokens of their bodies, by name.
        """
        if not self.records.wanted:
            return
        for skill in skills:
            if skill.name not in done.repeated:
                digests = {"digest": skill.digest, "content_digest": skill.content_digest}
                data = {"skill": skill.name, **digests, "tokens": tokens.get(skill.name)}
                await self.records.record_and_tell("skill.loaded", call_id, skill, data)
        await self.left(before, done, call_id, "replaced")

    async def left(self, before: SessionState, done: Transition, call_id: str, reason: str) -> None:
        """Report the skills that this transition unloaded, and the restriction if it changed."""
        events = self.records.events
        if not events.wanted:
            return
        for name in done.unloaded:
            await events.tell(SkillUnloaded, call_id, before.named(name) or name, reason=reason)
        await self._tell_restriction(before, done.state, call_id)

    async def dropped(self, skills: Sequence[ActiveSkill]) -> None:
        """Report skills that were unloaded because the catalog no longer lists them."""
        events, now = self.records.events, self._stored.state
        if not events.wanted:
            return
        for skill in skills:
            await events.tell(SkillUnloaded, None, skill, reason="removed")
        await self._tell_restriction(replace(now, active=(*now.active, *skills)), now, None)

    async def _tell_restriction(self, before: SessionState, after: SessionState, call_id: str | None) -> None:
        now = _restricting(self._restrictions.of(after))
        if set(now) != set(_restricting(self._restrictions.of(before))):
            names = tuple(item.skill for item in now)
            await self.records.events.tell(RestrictionChanged, call_id, restricting=names)


def _restricting(restrictions: Sequence[Restriction]) -> tuple[Restriction, ...]:
    return tuple(
        item
        for item in restrictions
        if (item.tokens is not None and item.mode != "preapprove") or item.denied or item.denial_fault
    )
