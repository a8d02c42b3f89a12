"""What an activation records and tells: which skills came, which left, and whether another restriction holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.runtime.events.event import RestrictionChanged, SkillUnloaded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.policy.restriction import Restriction
    from prowess.runtime.activation.restrictions import Restrictions
    from prowess.runtime.events.delivery import SessionRecords
    from prowess.runtime.session_state import StoredState
    from prowess.runtime.state import ActiveSkill, SessionState, Transition


class ActivationEvents:
    """Records and tells what happens to the active skills of one session."""

    def __init__(self, stored: StoredState, records: SessionRecords, restrictions: Restrictions) -> None:
        self._stored, self.records, self._restrictions = stored, records, restrictions

    async def loaded(self, before: SessionState, done: Transition, skills: Sequence[ActiveSkill], call_id: str) -> None:
        """Record the skills that came with this step, and tell of those that it replaced."""
        if not self.records.wanted:
            return
        for skill in skills:
            if skill.name not in done.repeated:
                data = {"skill": skill.name, "digest": skill.digest, "content_digest": skill.content_digest}
                await self.records.record_and_tell("skill.loaded", call_id, skill, data)
        await self.left(before, done, call_id, "replaced")

    async def left(self, before: SessionState, done: Transition, call_id: str, reason: str) -> None:
        """Tell what left with this step, and of a restriction that is another now."""
        events = self.records.events
        if not events.wanted:
            return
        for name in done.unloaded:
            await events.tell(SkillUnloaded, call_id, before.named(name) or name, reason=reason)
        await self._tell_restriction(before, done.state, call_id)

    async def dropped(self, skills: Sequence[ActiveSkill]) -> None:
        """Tell of skills that left because the catalog lists them no more."""
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
    return tuple(item for item in restrictions if item.tokens is not None and item.mode == "restrict")
