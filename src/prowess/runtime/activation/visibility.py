"""Decides which skills the model and the user may see and start.

A skill that is closed to the model appears in no list, enumeration or suggestion for the model, and a call that names
it reports an unknown skill. A fork is closed to everyone if the host cannot run forks. Official client guide C4 to C6;
fields `disable-model-invocation`, `user-invocable` and `context`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from anyio import to_thread

from prowess.catalog.matching import SUGGESTED
from prowess.errors import InvalidArgumentsError, SkillNotFoundError
from prowess.policy.decision import Deny, denial_of
from prowess.policy.packages.deployment_age import deployment_of
from prowess.policy.rule import PolicyCall
from prowess.runtime.activation.skill_identities import asked_of_active, of_active, of_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from prowess.catalog import Catalog, SkillEntry
    from prowess.format.fields.extended_fields import ExtendedFields
    from prowess.policy.decision import Decision
    from prowess.policy.facts.skill_identity import SkillIdentity
    from prowess.policy.policy import Policy, PolicySource
    from prowess.runtime.state import ActiveSkill

By = Literal["model", "user"]

_STARTS: Mapping[By, Callable[[SkillIdentity], PolicyCall]] = {
    "model": lambda skill: PolicyCall(tool="skills.load", arguments={"names": [skill.name]}, skills=(skill,)),
    "user": lambda skill: PolicyCall(tool="skills.invoke", arguments={"skill": skill.name}, skills=(skill,)),
}
_USER_CLOSED = "it is for models only (user-invocable: false); the model loads it if a task needs it"


_LONGEST_TEXT = 500  # characters of a text that are compared


class _Visible:
    """The visible skills for one state of catalog and policy. Replaced as a whole, so that threads see one state.

    `state` has the generations of catalog and policy, `entries` the skills in use, and `old` the sentences about
    deployments that the policy hides, because they become too old without a change of catalog or policy.
    """

    __slots__ = ("_deployed", "entries", "lists", "old", "state")

    def __init__(self, entries: tuple[SkillEntry, ...], state: tuple[int, int], policy: Policy | None) -> None:
        self.entries, self.state = entries, state
        self._deployed: tuple[SkillIdentity, ...] = ()
        if policy is not None and policy.hides_old:
            known = {deployment_of(asked): asked for asked in (of_entry(entry, None) for entry in entries)}
            self._deployed = tuple(asked for root, asked in known.items() if root is not None)
        self.old = self.old_deployments(policy)
        self.lists: dict[tuple[By, bool], tuple[SkillEntry, ...]] = {}

    def old_deployments(self, policy: Policy | None) -> tuple[str, ...]:
        """Return what `old` would be now."""
        return () if policy is None or not self._deployed else policy.old_deployments(self._deployed)


class Visibility:
    """The visibility of skills in one session. `forks` states whether the host can run forks.

    Skills that `policy` denies are not listed: a model could only learn that it may not start them. A call that names
    one is still decided by the policy, so the refusal names the rule. Lists of visible skills are cached until the
    catalog or the policy changes.
    """

    def __init__(self, catalog: Catalog, *, forks: bool, policy: PolicySource | None = None) -> None:
        self.catalog, self._forks = catalog, forks
        self._policy = policy
        self._visible = _Visible((), (-1, -1), None)

    def offers(self, by: By) -> tuple[SkillEntry, ...]:
        """Return the skills that model or user may start, by name. The same tuple until skills or policy change."""
        return self._listed(by, with_forks=self._forks)

    def shown(self, by: By) -> tuple[SkillEntry, ...]:
        """Return the skills that the model or the user may see, by name. The same tuple until skills or policy change.

        Includes forks that the host cannot run. For hosts that activate skills themselves.
        """
        return self._listed(by, with_forks=True)

    def _listed(self, by: By, *, with_forks: bool) -> tuple[SkillEntry, ...]:
        policy = _with_rules(self._policy)
        # The generation is read before the entries, so entries of a newer one are looked up once more.
        state = (self.catalog.generation, 0 if policy is None else policy.generation)
        visible = self._visible
        if state != visible.state or visible.old != visible.old_deployments(policy):
            visible = self._visible = _Visible(self.catalog.entries(), state, policy)
        if (known := visible.lists.get((by, with_forks))) is None:
            known = visible.lists[by, with_forks] = tuple(
                entry
                for entry in visible.entries
                if (with_forks or not entry.is_fork) and self._is_shown(entry, by, policy)
            )
        return known

    def names(self, by: By) -> tuple[str, ...]:
        """Return the names of `offers`, sorted."""
        return tuple(entry.name for entry in self.offers(by))

    async def offered(self, name: str, location: str | None = None, by: By = "model") -> SkillEntry:
        """Return the entry of a skill that may be started. Raises the errors of `listed` and `require_open`."""
        entry = await self.listed(name, location, by)
        self.require_open(name, entry.extended, by)
        return entry

    async def listed(self, name: str, location: str | None = None, by: By = "model") -> SkillEntry:
        """Return the catalog's entry of a skill. Scans the disk again if the entry is missing or outdated.

        Raise SkillNotFoundError with suggestions, or with the reason if a broken copy is known.
        """
        return self._known(name, location) or await self._scanned(name, location, by)

    def _known(self, name: str, location: str | None) -> SkillEntry | None:
        try:
            entry = self.catalog.find(name) if location is None else self.catalog.get(name, location)
        except SkillNotFoundError:
            return None
        return entry if entry is not None and entry.is_current() else None

    async def _scanned(self, name: str, location: str | None, by: By) -> SkillEntry:
        # A phrase is hardly a name, so a complete scan is not worth its time. New directories are noticed without it.
        phrase = len(name.split()) > 1
        await to_thread.run_sync(self.catalog.look_again if phrase else self.catalog.refresh)
        try:
            return self.catalog.get(name, location)
        except SkillNotFoundError as error:
            raise self.not_found(error, by) from None

    def is_live(self, skill: ActiveSkill) -> bool:
        """Whether edits of this skill take effect without a new load, as in the author's own directory."""
        try:
            return self.catalog.get(skill.name, skill.location).live
        except SkillNotFoundError:
            return False

    def require_open(self, name: str, fields: ExtendedFields, by: By) -> None:
        """Check that the model or the user may start a skill with these fields. `name` is as the caller wrote it.

        Raises:
            SkillNotFoundError: the skill is closed to the model. The model gets the same error as for an unknown name.
            InvalidArgumentsError: the skill is closed to the user. The message states the reason.
        """
        if by == "model" and fields.disable_model_invocation:
            raise self.not_found(SkillNotFoundError(name), by)
        if by == "user" and not fields.user_invocable:
            raise InvalidArgumentsError((f"skill {name!r} cannot be invoked by a person: {_USER_CLOSED}",))

    def not_found(self, error: SkillNotFoundError, by: By) -> SkillNotFoundError:
        """Return the error with suggestions that the caller may start, without a reason that reveals a closed skill."""
        reason = None if by == "model" and error.reason is not None and self._is_hidden(error.name) else error.reason
        near = () if reason else self.matching(error.name, by, SUGGESTED)
        return SkillNotFoundError(error.name, tuple(entry.name for entry in near), reason)

    def _is_hidden(self, name: str) -> bool:
        entry = self.catalog.find(name)
        return entry is not None and not entry.is_open_to_models

    def matching(self, text: str, by: By, most: int) -> tuple[SkillEntry, ...]:
        """Return at most `most` of the `offers` that match a text, best first. A text that is a name comes first."""
        offers = self.offers(by)
        found = [match.entry for match in self.catalog.match(text[:_LONGEST_TEXT], most, among=offers)]
        named = self.catalog.find(text)
        if named is not None and named in offers:
            found = [named, *(entry for entry in found if entry is not named)]
        return tuple(found[:most])

    def _is_shown(self, entry: SkillEntry, by: By, policy: Policy | None) -> bool:
        if not (entry.is_open_to_models if by == "model" else entry.is_open_to_users):
            return False
        if policy is None:
            return True
        asked = of_entry(entry, self.catalog if policy.lists_need_digests else None, policy)
        decision = decided(policy, asked, by)
        # A skill that waits for an approval is shown, so that a person can be asked.
        return not isinstance(decision, Deny) or decision.missing is not None

    def beside(self, root_dir: str, directory: str) -> SkillEntry | None:
        """Return the listed, permitted skill whose directory has this name, preferably next to `root_dir`; or None.

        A skill of an installed package gets only skills of this package, and a locked one none: it reads and runs only
        inside its own tree, which the lock names.
        """
        own = next((entry for entry in self.catalog.all_entries() if entry.root_dir == root_dir), None)
        parent, policy = os.path.dirname(root_dir), _with_rules(self._policy)
        found = [entry for entry in self.catalog.entries() if os.path.basename(entry.root_dir) == directory]
        if own is not None and own.recorded is not None:  # each locked skill is a source of its own
            found = [entry for entry in found if entry.source_id == own.source_id]
        for entry in sorted(found, key=lambda entry: os.path.dirname(entry.root_dir) != parent)[:1]:
            asked = None if policy is None else of_entry(entry, self.catalog if policy.needs_digests else None, policy)
            return entry if policy is None or asked is None or permits(policy, asked, "model") else None
        return None

    def require_permitted(self, skill: ActiveSkill, by: By) -> None:
        """Raise the error of a denied call if the policy denies these files, which may have changed meanwhile."""
        policy = _with_rules(self._policy)
        if policy is None or not policy.needs_digests:
            return  # without rules about digests, the new files cannot change the decision
        decision = decided(policy, of_active(skill, self.catalog, policy), by)
        if isinstance(decision, Deny):
            raise denial_of(decision, "skills.load")

    def old_deployments(self, skill: ActiveSkill) -> tuple[str, ...]:
        """Return a sentence if the skill's deployment is too old for the policy."""
        policy = _with_rules(self._policy)
        if policy is None or policy.max_age is None:
            return ()
        return policy.old_deployments((of_active(skill, self.catalog),))

    def permitted(self, skills: Sequence[ActiveSkill]) -> tuple[ActiveSkill, ...]:
        """Return the active skills that the policy lets the model start now."""
        policy = _with_rules(self._policy)
        if policy is None:
            return tuple(skills)
        return tuple(
            skill for skill in skills if permits(policy, asked_of_active(policy, skill, self.catalog), "model")
        )


def permits(policy: Policy, skill: SkillIdentity, by: By) -> bool:
    """Whether `policy` lets the model, or the user, start a skill."""
    return not isinstance(decided(policy, skill, by), Deny)


def decided(policy: Policy, skill: SkillIdentity, by: By) -> Decision:
    """Return the decision of `policy` on the model, or the user, starting a skill."""
    return policy.decide(start_of(skill, by))


def start_of(skill: SkillIdentity, by: By) -> PolicyCall:
    """Return the call by which the model or the user starts a skill."""
    return _STARTS[by](skill)


def _with_rules(source: PolicySource | None) -> Policy | None:
    """Return the current policy if it may deny a skill; None for the built-in policy, which denies none."""
    policy = None if source is None else source.now()
    return policy if policy is not None and policy.may_deny else None
