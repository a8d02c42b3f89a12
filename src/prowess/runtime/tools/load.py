"""`skills.load`: activate skills, all of the given names or none (runtime protocol 002, load)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prowess.errors import InvalidArgumentsError
from prowess.runtime.activation import load_result
from prowess.runtime.disclosure import model_texts
from prowess.tools import ToolSpec, require_executor
from prowess.tools.spec import object_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.runtime.activation.activator import Activator
    from prowess.runtime.tools.load_results import LoadResults
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
            "description": "replace: only these are active afterwards; add: keep the active ones too.",
        },
        location={
            "type": "string",
            "description": "Which copy of the skill, by its listed location; only if names has one entry.",
        },
    ),
    output_schema=load_result.RECEIPT_SCHEMA,
    idempotent=True,
)


class LoadTool:
    """Activates skills and returns the resulting list of active skills."""

    spec = SPEC

    def __init__(self, activator: Activator, results: LoadResults) -> None:
        self._activator, self._results = activator, results

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return the `LoadResult` as JSON.

        Raises:
            SkillNotFoundError, LimitExceededError, InvalidArgumentsError, SkillParseError, SessionNotFoundError,
            SkillConflictError, RequiredToolError, HookFailedError: the active skills are unchanged.
        """
        require_executor(self, call)
        given: Mapping[str, Any] = arguments  # validated against the schema
        names, location = list(dict.fromkeys(given["names"])), given.get("location")
        if location is not None and len(names) > 1:
            raise InvalidArgumentsError(("location picks one copy of one skill; give exactly one name with it",))
        activation = await self._activator.load(names, given["mode"], location, call.id)
        notices = [*activation.notices, *map(load_result.already_active, activation.step.repeated)]
        return (await self._results.of(activation.step, notices, activation.fresh())).as_dict()
