"""What the `allowed-tools` and `disallowed-tools` of active skills mean for the calls of one session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from prowess._internal.files.session_table import session_setting
from prowess.errors import ConfigurationError, SkillNotFoundError
from prowess.format.fields.near_fields import tool_fields
from prowess.format.profiles import PROFILES
from prowess.policy.restriction import Restriction
from prowess.runtime.activation.skill_identities import asked_of_active
from prowess.runtime.activation.visibility import permits

if TYPE_CHECKING:
    from prowess.catalog import Catalog
    from prowess.policy.policy import PolicySource
    from prowess.policy.restriction import RestrictionMode
    from prowess.runtime.state import ActiveSkill, SessionState

AllowedToolsMode = Literal["restrict", "ask", "preapprove", "ignored"]


def default_mode(profile: str | None) -> RestrictionMode:
    """Return how a session reads `allowed-tools` if nobody says: as its profile does, or that of this user.

    Raises:
        ConfigurationError: the profile would come from the user's file, and that has a fault.
    """
    named = session_setting("profile") if profile is None else profile
    if named not in (None, *PROFILES):
        raise ConfigurationError(
            (f"session.profile of your config.toml: {named!r} is not one of {', '.join(PROFILES)}",)
        )
    return "preapprove" if named is not None and PROFILES[named].preapproves else "restrict"


class Restrictions:
    """The restrictions of one session's skills; `inherited` restricts a fork from outside.

    `chosen` is how the host reads `allowed-tools`; None leaves it to the policy, and where that says nothing to
    `default`, which comes from the profile of the session. What a policy file sets can only be tightened.
    """

    def __init__(
        self,
        catalog: Catalog,
        policy: PolicySource,
        chosen: RestrictionMode | None,
        default: RestrictionMode = "restrict",
        inherited: tuple[Restriction, ...] = (),
    ) -> None:
        self._catalog, self._policy, self._inherited = catalog, policy, inherited
        self._chosen, self._default = chosen, default

    @property
    def mode(self) -> RestrictionMode:
        """How `allowed-tools` is read now."""
        return self._policy.now().mode_of_sessions(self._chosen, self._default)

    def of(self, state: SessionState) -> tuple[Restriction, ...]:
        """Return what restricts a call: every active skill, and for a fork everything that restricted its parent."""
        return (*self._inherited, *(self.of_skill(skill) for skill in state.active))

    def of_skill(self, skill: ActiveSkill) -> Restriction:
        """Return what one skill says about tools, bound to the bytes that say it."""
        mode = self.mode_of(skill)
        return Restriction.of_properties(
            skill.name,
            skill.properties,
            mode=None if mode == "ignored" else self.mode,
            digest=skill.digest or skill.content_digest,
            root_dir=skill.root_dir,
        )

    def mode_of(self, skill: ActiveSkill) -> AllowedToolsMode | None:
        """Return how the `allowed-tools` of one skill are read; None if it has none.

        `ignored`: a skill of another server, one whose origin is not known any more, or one that the policy denies by
        now, approves nothing in advance.
        """
        if not tool_fields(skill.properties).allowed:
            return None
        if (mode := self.mode) != "preapprove":
            return mode
        try:
            origin = self._catalog.get(skill.name, skill.location).origin
        except SkillNotFoundError:
            return "ignored"
        # What the policy denies by now restricts as before, and answers for nobody.
        policy = self._policy.now()
        permitted = origin is None and permits(policy, asked_of_active(policy, skill, self._catalog), "model")
        return "preapprove" if permitted else "ignored"
