"""Results of `skills.load` and `skills.unload`: the active skills in order, the unloaded names, and notices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyio import to_thread
from msgspec import UNSET

from prowess._internal.text.invisible import visible_value
from prowess.runtime.activation.load_result import LoadedSkill, LoadResult
from prowess.runtime.activation.substitution import NOTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.runtime.activation.load_result import Notice
    from prowess.runtime.activation.rendering import Rendering
    from prowess.runtime.activation.restrictions import Restrictions
    from prowess.runtime.activation.snapshots import Snapshot
    from prowess.runtime.state import Transition


class LoadResults:
    """Creates the results of one session. With `in_results` they contain the bodies, else the instructions do."""

    def __init__(self, restrictions: Restrictions, rendering: Rendering, *, in_results: bool) -> None:
        self._restrictions, self._rendering, self._in_results = restrictions, rendering, in_results

    async def of(self, step: Transition, notices: Sequence[Notice], fresh: Sequence[Snapshot] = ()) -> LoadResult:
        """Return the result of a transition; `fresh` are the skills whose body is new to the session."""
        contents = None
        if self._in_results:
            contents = await to_thread.run_sync(self._contents, fresh) if fresh else {}
        new = {snapshot.skill.name for snapshot in fresh}
        shown, entries = self._rendering.expose_location, list[LoadedSkill]()
        for skill in step.state.active:
            put = self._rendering.substitutions(skill) if skill.name in new else NOTHING  # new bodies were just read
            entry = LoadedSkill(
                name=skill.name,
                location=skill.location if shown else None,
                root_dir=skill.root_dir if shown else None,
                digest=skill.digest,
                properties={key: visible_value(value) for key, value in skill.properties.items()},
                allowed_tools_mode=self._restrictions.mode_of(skill),
                content=UNSET if contents is None else contents.get(skill.name),
                substitutions=None if put == NOTHING else put,
            )
            entries.append(entry)
        return LoadResult(active_skills=tuple(entries), unloaded_skills=step.unloaded, notices=tuple(notices))

    def _contents(self, fresh: Sequence[Snapshot]) -> dict[str, str]:
        return {snapshot.skill.name: self._rendering.content(snapshot, snapshot.skill) for snapshot in fresh}
