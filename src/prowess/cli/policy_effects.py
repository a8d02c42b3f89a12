"""Effects of this machine's and this user's policy files and blocks on skills, for commands that describe skills.

The effect is the decision if a model loads the skill: deny, ask or allow. If there is neither a policy file nor a
block, and the machine is not enrolled, no effect is reported, because then no skill is denied.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.places import block_places, bundle_folder, policy_places, user_home

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.catalog import Catalog, Copy, SkillEntry
    from prowess.policy.policy import Policy

_SAID = {"allow": "allowed", "ask": "asked about", "deny": "denied"}


class PolicyEffect(Struct, frozen=True, kw_only=True):
    """The decision about one skill: the rule, its place (None for a default) and the reason."""

    effect: Literal["allow", "ask", "deny"]
    rule: str
    origin: str | None
    reason: str

    @property
    def short(self) -> str:
        """The decision and the place of the rule, for a row of a table."""
        place = "the policy's default" if self.origin is None else self.origin
        if place.startswith(home := f"{user_home()}/"):
            place = f"~/{place.removeprefix(home)}"
        if self.rule.startswith("approval for "):  # of people, before the skill may be used
            return f"needs approvals, by {place}"
        return f"{_SAID[self.effect]} by {'a policy that cannot be read' if self.is_unreadable else place}"

    @property
    def is_unreadable(self) -> bool:
        """Whether a policy file cannot be read, so everything is denied, for the reason that names the file."""
        return self.rule == "policy"

    def __str__(self) -> str:
        return f"{self.short} ('{self.rule}'): {self.reason}" if self.origin else f"{self.short}: {self.reason}"


class PolicyEffects:
    """Computes effects for the skills of one catalog, with the policy files as read at creation."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.policy: Policy | None = None
        is_enrolled = bundle_folder() is not None  # the organisation may have blocks without a policy
        if is_enrolled or any(map(os.path.lexists, (*policy_places(), *block_places()))):
            # Imported here because a machine without a policy does not need the rules.
            from prowess.policy.policy_in_force import PolicyInForce
            from prowess.runtime.identity import caller_of, requester_of

            self.policy = PolicyInForce(who=requester_of(caller_of(None, None, catalog.audience))).now()

    def of(self, entry: SkillEntry) -> PolicyEffect | None:
        """Return the effect of the policy on a skill, or None if there is no policy file."""
        return self._effect(entry, self._catalog)

    def old_deployments(self, entries: Iterable[SkillEntry]) -> tuple[str, ...]:
        """Return a sentence for each deployment of these skills that is too old for the policy."""
        if self.policy is None or self.policy.max_age is None:
            return ()
        from prowess.runtime.activation.skill_identities import of_entry  # Imported here for the same reason.

        return self.policy.old_deployments(of_entry(entry, None) for entry in entries)

    def of_copy(self, copy: Copy) -> PolicyEffect | None:
        """Return the effect on one copy of a name, or None if there is no policy file or the copy was not read.

        If the copy is not listed, its files are not read, so no rule about digests matches it.
        """
        if copy.entry is None:
            return None
        return self._effect(copy.entry, self._catalog if copy.state in {"active", "shadowed"} else None)

    def _effect(self, entry: SkillEntry, catalog: Catalog | None) -> PolicyEffect | None:
        if self.policy is None:
            return None
        from prowess.policy.decision import Deny, effect_of  # Imported here for the same reason.
        from prowess.runtime.activation.skill_identities import of_entry
        from prowess.runtime.activation.visibility import decided

        known = of_entry(entry, catalog if self.policy.needs_digests else None, self.policy)
        decision = decided(self.policy, known, "model")
        waits = isinstance(decision, Deny) and decision.missing is not None
        return PolicyEffect(
            effect="ask" if waits else effect_of(decision),
            rule=decision.rule,
            origin=None if decision.origin is None else str(decision.origin),
            reason=decision.reason,
        )

    def as_member(self, entry: SkillEntry) -> dict[str, object]:
        """Return the effect as the member `policy` of a JSON object; empty if there is no policy file."""
        effect = self.of(entry)
        return {} if effect is None else {"policy": effect}


def effect_at(path: str) -> PolicyEffect | None:
    """Return the policy's effect on the skill at `path`, in any layer. None if there is no skill or no policy file."""
    from prowess.catalog import Catalog  # Imported here because few commands need the effect at one path.

    directory = path if os.path.isdir(path) else os.path.dirname(path) or "."
    real = os.path.realpath(directory)
    for catalog in (Catalog.discover(trust_project=True), Catalog(directory)):
        effects = PolicyEffects(catalog)
        if effects.policy is None:
            return None
        for entry in catalog.all_entries():
            if entry.root_dir == real:
                return effects.of(entry)
    return None
