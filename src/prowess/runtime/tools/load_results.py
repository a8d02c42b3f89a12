"""What `skills.load` and `skills.unload` give back: the active skills in order, what left, and notices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyio import to_thread

from prowess._internal.text.invisible import visible_value
from prowess.runtime.activation.substitution import NOTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.runtime.activation.load_result import Notice
    from prowess.runtime.activation.rendering import Rendering
    from prowess.runtime.activation.restrictions import Restrictions
    from prowess.runtime.activation.snapshots import Snapshot
    from prowess.runtime.state import Transition


class LoadResults:
    """Makes the results of one session; with `in_results` they carry the bodies, which no instructions hold then."""

    def __init__(self, restrictions: Restrictions, rendering: Rendering, *, in_results: bool) -> None:
        self._restrictions, self._rendering, self._in_results = restrictions, rendering, in_results

    async def of(
        self, step: Transition, notices: Sequence[Notice], fresh: Sequence[Snapshot] = ()
    ) -> dict[str, object]:
        """Return the result of a step; `fresh` are the skills whose body is new to the session."""
        contents = None
        if self._in_results:
            contents = await to_thread.run_sync(self._contents, fresh) if fresh else {}
        new = {snapshot.skill.name for snapshot in fresh}
        shown, entries = self._rendering.expose_location, list[dict[str, object]]()
        for skill in step.state.active:
            entry: dict[str, object] = {
                "name": skill.name,
                "location": skill.location if shown else None,
                "root_dir": skill.root_dir if shown else None,
                "digest": skill.digest,
                "properties": {key: visible_value(value) for key, value in skill.properties.items()},
                "allowed_tools_mode": self._restrictions.mode_of(skill),
            }
            if contents is not None:
                entry["content"] = contents.get(skill.name)
            if skill.name in new and (put := self._rendering.substitutions(skill)) != NOTHING:
                entry["substitutions"] = put.as_dict()  # its body was read a moment ago
            entries.append(entry)
        return {
            "active_skills": entries,
            "unloaded_skills": list(step.unloaded),
            "notices": [notice.as_dict() for notice in notices] if notices else [],
        }

    def _contents(self, fresh: Sequence[Snapshot]) -> dict[str, str]:
        return {snapshot.skill.name: self._rendering.content(snapshot, snapshot.skill) for snapshot in fresh}
