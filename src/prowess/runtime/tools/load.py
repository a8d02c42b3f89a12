"""`skills.load`: bring skills into force, all of those named or none (runtime protocol 002, load)."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from prowess.errors import InvalidArgumentsError
from prowess.runtime.activation import load_result
from prowess.runtime.disclosure import model_texts
from prowess.tools import ToolSpec, require_executor
from prowess.tools.spec import object_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.runtime.activation.activator import Activator
    from prowess.runtime.activation.load_result import Notice
    from prowess.runtime.activation.rendering import Rendering
    from prowess.runtime.activation.restrictions import Restrictions
    from prowess.runtime.activation.snapshots import Snapshot
    from prowess.runtime.state import Transition
    from prowess.tools import ToolCall

SPEC = ToolSpec(
    name="skills.load",
    title="Load skills",
    description=model_texts.LOAD,
    input_schema=object_schema(
        "names",
        names={
            "type": "array",
            "items": {"type": "string", "minLength": 1},
            "minItems": 1,
            "description": "Names of skills from the list of available skills.",
        },
        mode={
            "type": "string",
            "enum": ["replace", "add"],
            "default": "replace",
            "description": "replace: exactly these are active afterwards; add: they join the active ones.",
        },
        location={
            "type": "string",
            "description": "Which of several copies of one skill, as listed; only with a single name.",
        },
    ),
    output_schema=load_result.RECEIPT_SCHEMA,
    idempotent=True,
)


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
        shown, entries = self._rendering.expose_location, list[dict[str, object]]()
        for skill in step.state.active:
            entry: dict[str, object] = {
                "name": skill.name,
                "location": skill.location if shown else None,
                "root_dir": skill.root_dir if shown else None,
                "digest": skill.digest,
                "properties": _copied(skill.properties),
                "allowed_tools_mode": self._restrictions.mode_of(skill),
            }
            if contents is not None:
                entry["content"] = contents.get(skill.name)
            entries.append(entry)
        return {
            "active_skills": entries,
            "unloaded_skills": list(step.unloaded),
            "notices": [notice.as_dict() for notice in notices] if notices else [],
        }

    def _contents(self, fresh: Sequence[Snapshot]) -> dict[str, str]:
        return {snapshot.skill.name: self._rendering.content(snapshot, snapshot.skill) for snapshot in fresh}


def _copied(properties: Mapping[str, object]) -> dict[str, object]:
    """Return a copy: a caller may do with a result as it likes, and the session keeps its own."""
    copied = dict(properties)
    for key, value in copied.items():
        if type(value) is not str:
            copied[key] = deepcopy(value)
    return copied


class LoadTool:
    """Activates skills side by side and answers with the receipt."""

    spec = SPEC

    def __init__(self, activator: Activator, results: LoadResults) -> None:
        self._activator, self._results = activator, results

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return the receipt.

        Raises:
            SkillNotFoundError, LimitExceededError, InvalidArgumentsError, SkillParseError, SessionNotFoundError,
            SkillConflictError, RequiredToolError, HookFailedError: nothing has changed.
        """
        require_executor(self, call)
        given: Mapping[str, Any] = arguments  # which fit the schema
        names, location = list(dict.fromkeys(given["names"])), given.get("location")
        if location is not None and len(names) > 1:
            raise InvalidArgumentsError(("location picks one copy of one skill; give exactly one name with it",))
        activation = await self._activator.load(names, given["mode"], location, call.id)
        notices = [*activation.notices, *map(load_result.already_active, activation.step.repeated)]
        return await self._results.of(activation.step, notices, activation.fresh())
