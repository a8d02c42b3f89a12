"""The effect of the active skills' `allowed-tools` and `disallowed-tools` on the calls of one session."""

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
    """Return how a session reads `allowed-tools` by default.

    The session's profile decides; if `profile` is None, the profile in the user's config.toml.

    Raises:
        ConfigurationError: the profile of config.toml is needed and is invalid.
    """
    named = session_setting("profile") if profile is None else profile
    if named not in (None, *PROFILES):
        raise ConfigurationError(
            (f"session.profile of your config.toml: {named!r} is not one of {', '.join(PROFILES)}",)
        )
    return "preapprove" if named is not None and PROFILES[named].preapproves else "restrict"


class Restrictions:
    """The tool restrictions of one session's skills. A fork also has the `inherited` restrictions of its parent.

    `allowed-tools` is read in the strictest of these modes: `chosen` by the host (None if it chose none), and those of
    the policy files. If there are none, `default` applies, which comes from the session's profile.
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
        """How `allowed-tools` is read at the moment; a policy file may change it."""
        return self._policy.now().mode_of_sessions(self._chosen, self._default)

    def of(self, state: SessionState) -> tuple[Restriction, ...]:
        """Return all restrictions on calls: those of every active skill and, in a fork, those of the parent."""
        return (*self._inherited, *(self.of_skill(skill) for skill in state.active))

    def of_skill(self, skill: ActiveSkill) -> Restriction:
        """Return the tool restriction of one skill, bound to the digest of the files that state it."""
        mode = self.mode_of(skill)
        return Restriction.of_properties(
            skill.name,
            skill.properties,
            mode=None if mode == "ignored" else self.mode,
            digest=skill.digest or skill.content_digest,
            root_dir=skill.root_dir,
        )

    def mode_of(self, skill: ActiveSkill) -> AllowedToolsMode | None:
        """Return how the `allowed-tools` of one skill is read; None if the skill has none.

        `ignored` replaces `preapprove` if the skill is of another server, no longer listed, or denied by the policy.
        """
        if not tool_fields(skill.properties).allowed:
            return None
        if (mode := self.mode) != "preapprove":
            return mode
        try:
            origin = self._catalog.get(skill.name, skill.location).origin
        except SkillNotFoundError:
            return "ignored"
        # A skill that the policy denies now still restricts calls as before, but pre-approves none.
        policy = self._policy.now()
        permitted = origin is None and permits(policy, asked_of_active(policy, skill, self._catalog), "model")
        return "preapprove" if permitted else "ignored"
