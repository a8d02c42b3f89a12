"""Finds the skills that a tool call is about, for policy rules that match skills and for audit records.

A call of a skill tool is about the skills that it names. Any other call is about all active skills. Names are resolved
as the session would resolve them: to an active skill for reads and script runs, to the catalog's copy otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyio import to_thread
from msgspec.structs import replace

from prowess.audit.record import is_in_use
from prowess.errors import SkillNotFoundError
from prowess.format.name import SkillName
from prowess.policy.facts.skill_identity import SkillIdentity
from prowess.policy.rule import PolicyCall
from prowess.policy.tool_names import SKILL_ARGUMENTS, SKILL_TOOLS
from prowess.runtime.activation.skill_identities import of_active, of_entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.audit.record import AuditLog
    from prowess.policy.policy import PolicySource
    from prowess.runtime.activation.visibility import Visibility
    from prowess.runtime.session_state import StoredState
    from prowess.runtime.state import ActiveSkill
    from prowess.tools import ToolCall


class CallSkills:
    """Finds the skills of one session's calls. While `log` is in use, they are added even if no rule needs them."""

    def __init__(self, offered: Visibility, stored: StoredState, policy: PolicySource, log: AuditLog) -> None:
        self._offered, self._catalog = offered, offered.catalog
        self._stored, self._policy, self._log = stored, policy, log

    async def added(self, call: ToolCall) -> ToolCall:
        """Return the call with its skills, if policy or records need them. Raise SessionNotFoundError or StoreError."""
        policy = self._policy.now()
        if not (policy.needs_skills or is_in_use(self._log)):
            return call
        if call.name in SKILL_TOOLS - SKILL_ARGUMENTS.keys():
            return replace(call, skills=())
        starts = call.name in SKILL_ARGUMENTS.keys() - _OF_ACTIVE
        active = () if starts else (await self._stored.current()).active
        if call.name not in SKILL_ARGUMENTS:
            return replace(call, skills=tuple(of_active(skill, self._catalog, policy) for skill in active))
        location = call.arguments.get("location")
        where = location if isinstance(location, str) else None
        named = [skill.name for skill in PolicyCall(tool=call.name, arguments=call.arguments).about]
        found = [SkillIdentity() if name is None else await self._of_name(name, where, active) for name in named]
        return replace(call, skills=tuple(found))

    def about(self, name: str) -> dict[str, object]:
        """Return layer, source and digest of an active or listed skill for a record; empty if unknown. Blocks."""
        skill = next((skill for skill in self._stored.state.active if skill.name == name), None)
        try:
            if skill is not None:
                known = of_active(skill, self._catalog)
            else:
                known = of_entry(self._catalog.get(name), self._catalog)
        except SkillNotFoundError:
            return {}
        source = None if known.sources is None else known.sources[0]
        return {
            "layer": known.layer,
            "source": source,
            "digest": next(iter(known.digests), None),
            "publisher": known.publisher,
        }

    async def _of_name(self, name: str, location: str | None, active: Sequence[ActiveSkill]) -> SkillIdentity:
        key, policy = SkillName.of(name).text, self._policy.now()
        for skill in active:
            if key == skill.key:
                return of_active(skill, self._catalog, policy)
        try:
            # If a rule depends on facts of the skill, scan the disk for a skill that the catalog does not list yet.
            entry = (
                await self._offered.listed(name, location) if policy.needs_skills else self._catalog.get(name, location)
            )
        except SkillNotFoundError:
            return SkillIdentity(name=name, absent=True)
        for skill in active:  # `deploy@acme` names one copy, which may be the active one
            if (skill.key, skill.location) == (entry.key, entry.location):
                return of_active(skill, self._catalog, policy)
        if self._catalog.at_rest(entry) is None:  # the files must be read, so use a thread
            return await to_thread.run_sync(of_entry, entry, self._catalog, policy)
        return of_entry(entry, self._catalog, policy)


_OF_ACTIVE = frozenset({"skills.read", "skills.run_script"})
