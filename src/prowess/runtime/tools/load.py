"""`skills.load`: bring skills into force, all of those named or none (runtime protocol 002, load)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from anyio import to_thread

from prowess.errors import InvalidArgumentsError, SkillNotFoundError
from prowess.runtime import disclosure, receipts
from prowess.runtime.state import loaded, require_room
from prowess.tools import ToolSpec

if TYPE_CHECKING:
    from prowess.catalog import SkillEntry
    from prowess.runtime.context import SessionContext
    from prowess.runtime.snapshots import Snapshot
    from prowess.runtime.state import ActiveSkill, Mode, SessionState, Transition
    from prowess.tools import ToolCall

SPEC = ToolSpec(
    name="skills.load",
    title="Load skills",
    description=disclosure.LOAD,
    input_schema={
        "type": "object",
        "properties": {
            "names": {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "minItems": 1,
                "description": "Names of skills from the list of available skills.",
            },
            "mode": {
                "type": "string",
                "enum": ["replace", "add"],
                "default": "replace",
                "description": "replace: exactly these are active afterwards; add: they join the active ones.",
            },
            "location": {
                "type": "string",
                "description": "Which of several copies of one skill, as listed; only with a single name.",
            },
        },
        "required": ["names"],
        "additionalProperties": False,
    },
    output_schema=receipts.RECEIPT_SCHEMA,
    idempotent=True,
)


class LoadTool:
    """Resolves names, reads each skill once, and activates all in one step."""

    spec = SPEC

    def __init__(self, context: SessionContext) -> None:
        self._context = context

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return the receipt.

        Raises:
            SkillNotFoundError, LimitExceededError, InvalidArgumentsError, SkillParseError, SessionNotFoundError:
                nothing has changed.
        """
        context = self._context
        names = list(dict.fromkeys(cast("list[str]", arguments["names"])))
        mode = cast("Mode", arguments["mode"])
        location = cast("str | None", arguments.get("location"))
        if location is not None and len(names) > 1:
            raise InvalidArgumentsError(("location picks one copy of one skill; give exactly one name with it",))
        async with context.loading:
            before = await context.keeper.current()
            entries = {entry.key: entry for entry in [await context.listed(name, location) for name in names]}
            require_room([skill.key for skill in before.active], list(entries), mode, context.cap)
            # A load by name alone keeps the copy of that name that is active.
            others = {} if location is not None or mode == "replace" else _other_copies(before, entries)
            taken = [await self._take(entry) for key, entry in entries.items() if key not in others]
            step = await context.keeper.change(lambda state: self._step(state, taken, mode))
        context.snapshots.keep_only(step.state.active)
        for snapshot in taken:
            if snapshot.skill.name not in step.repeated:
                data = {"skill": snapshot.skill.name, "digest": snapshot.skill.digest}
                await context.record("skill.loaded", call.id, {**data, "content_digest": snapshot.skill.content_digest})
        notices = [
            *(receipts.removed(name) for name in context.keeper.take_removed() if name not in step.state.names),
            *(receipts.kept_copy(skill) for skill in others.values()),
            *(receipts.already_active(name) for name in step.repeated),
            *(receipts.reloaded(name) for name in step.changed),
            *(receipts.not_digestible(s.skill) for s in taken if s.skill.digest is None),
        ]
        return receipts.receipt(
            step.state,
            unloaded=step.unloaded,
            notices=notices,
            expose_location=context.expose_location,
            contents=self._contents(taken, step) if context.body == "result" else None,
        )

    async def _take(self, entry: SkillEntry) -> Snapshot:
        return await to_thread.run_sync(self._context.snapshots.take, entry.name, entry.location)

    def _step(self, state: SessionState, taken: list[Snapshot], mode: Mode) -> Transition:
        for snapshot in taken:
            # Removed from the catalog while it was read: then it must not become active.
            if not self._context.keeper.is_listed(snapshot.skill):
                raise SkillNotFoundError(snapshot.skill.name, reason="it was removed while it was being loaded")
        return loaded(state, [snapshot.skill for snapshot in taken], mode, self._context.cap)

    def _contents(self, taken: list[Snapshot], step: Transition) -> dict[str, str]:
        return {
            snapshot.skill.name: disclosure.skill_content(
                snapshot.skill.name,
                snapshot.body,
                directory=snapshot.skill.root_dir if self._context.expose_location else None,
                resources=[file.path for file in snapshot.manifest.files if file.path != "SKILL.md"],
            )
            for snapshot in taken
            if snapshot.skill.name not in step.repeated
        }


def _other_copies(state: SessionState, entries: dict[str, SkillEntry]) -> dict[str, ActiveSkill]:
    return {
        skill.key: skill
        for skill in state.active
        if skill.key in entries and skill.location != entries[skill.key].location
    }
