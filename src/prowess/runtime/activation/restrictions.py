"""What the `allowed-tools` of active skills mean for the calls of one session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from prowess.errors import SkillNotFoundError
from prowess.policy.restriction import Restriction
from prowess.runtime.activation.skill_identities import asked_of_active
from prowess.runtime.activation.visibility import permits

if TYPE_CHECKING:
    from prowess.catalog import Catalog
    from prowess.policy.policy import PolicySource
    from prowess.policy.restriction import RestrictionMode
    from prowess.runtime.state import ActiveSkill, SessionState

AllowedToolsMode = Literal["restrict", "preapprove", "ignored"]


class Restrictions:
    """The restrictions of one session's skills; `inherited` restricts a fork from outside.

    `chosen` is how the host reads `allowed-tools`; None leaves it to the policy, and `restrict` of a policy file holds.
    """

    def __init__(
        self,
        catalog: Catalog,
        policy: PolicySource,
        chosen: RestrictionMode | None,
        inherited: tuple[Restriction, ...] = (),
    ) -> None:
        self._catalog, self._policy, self._chosen, self._inherited = catalog, policy, chosen, inherited

    @property
    def mode(self) -> RestrictionMode:
        """How `allowed-tools` is read now."""
        policy = self._policy.now()
        if self._chosen is None or any(file.allowed_tools == "restrict" for file in policy.files):
            return policy.allowed_tools
        return self._chosen

    def of(self, state: SessionState) -> tuple[Restriction, ...]:
        """Return what restricts a call: every active skill, and for a fork everything that restricted its parent."""
        return (*self._inherited, *(self.of_skill(skill) for skill in state.active))

    def of_skill(self, skill: ActiveSkill) -> Restriction:
        """Return what one skill says about tools, bound to the bytes that say it."""
        digest = skill.digest or skill.content_digest
        tools = None if self.mode_of(skill) == "ignored" else skill.allowed_tools
        return Restriction.of_field(skill.name, tools, mode=self.mode, digest=digest)

    def mode_of(self, skill: ActiveSkill) -> AllowedToolsMode | None:
        """Return how the `allowed-tools` of one skill are read; None if it has none.

        `ignored`: a skill of another server, one whose origin is not known any more, or one that the policy denies by
        now, approves nothing in advance.
        """
        if skill.allowed_tools is None:
            return None
        if self.mode == "restrict":
            return "restrict"
        try:
            origin = self._catalog.get(skill.name, skill.location).origin
        except SkillNotFoundError:
            return "ignored"
        # What the policy denies by now restricts as before, and answers for nobody.
        policy = self._policy.now()
        permitted = origin is None and permits(policy, asked_of_active(policy, skill, self._catalog), "model")
        return "preapprove" if permitted else "ignored"
