"""`skills.unload`: deactivate skills (runtime protocol 002, unload)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from prowess.errors import InvalidArgumentsError
from prowess.runtime.activation import load_result
from prowess.runtime.disclosure import model_texts
from prowess.tools import ToolSpec, require_executor
from prowess.tools.spec import object_schema

if TYPE_CHECKING:
    from prowess.runtime.activation.activator import Activator
    from prowess.runtime.activation.visibility import Visibility
    from prowess.runtime.events.delivery import SessionRecords
    from prowess.runtime.session_state import StoredState
    from prowess.runtime.tools.load_results import LoadResults
    from prowess.tools import ToolCall

SPEC = ToolSpec(
    name="skills.unload",
    title="Unload skills",
    description=model_texts.UNLOAD,
    input_schema=object_schema(
        names={
            "type": "array",
            "items": {"type": "string", "minLength": 1},
            "description": "Names of skills; those that are not loaded are ignored.",
        },
        all={"type": "boolean", "default": False, "description": "Unload every skill."},
    ),
    output_schema=load_result.RECEIPT_SCHEMA,
    idempotent=True,
)


class UnloadTool:
    """Deactivates the named skills, or all. The other skills keep their order."""

    spec = SPEC

    def __init__(
        self,
        activator: Activator,
        stored: StoredState,
        offered: Visibility,
        records: SessionRecords,
        results: LoadResults,
    ) -> None:
        self._activator, self._stored, self._offered = activator, stored, offered
        self._records, self._results = records, results

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return the `LoadResult` as JSON.

        Raises:
            InvalidArgumentsError: neither names nor `all`.
            SkillNotFoundError: the catalog has no skill of a name; the active skills are unchanged.
            SessionNotFoundError: the session has expired or was closed.
        """
        require_executor(self, call)
        names = list(dict.fromkeys(cast("list[str]", arguments.get("names", []))))
        everything = arguments["all"] is True
        if not names and not everything:
            raise InvalidArgumentsError(("give names with at least one skill, or all: true",))
        state = await self._stored.current()
        keys: set[str] = set()
        removed = self._stored.take_removed()
        for name in [] if everything else names:
            if (active := state.named(name)) is not None:
                keys.add(active.key)
            elif name not in {skill.name for skill in removed}:
                keys.add((await self._offered.offered(name)).key)
        step, remarks = await self._activator.unload(None if everything else keys, call.id)
        for name in step.unloaded:
            left = state.named(name)
            data = {"skill": name, "digest": None if left is None else left.digest or left.content_digest}
            await self._records.record("skill.unloaded", call.id, data)
        notices = [*(load_result.removed(skill) for skill in removed), *remarks]
        if everything and names:
            notices.append(load_result.names_ignored(names))
        return (await self._results.of(step, notices)).as_dict()
