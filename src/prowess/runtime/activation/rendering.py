"""The body of an active skill as it is in force: placeholders replaced, the output of its commands in their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.format.fields.extended_fields import extended_fields
from prowess.runtime.activation.dynamic_commands import commands
from prowess.runtime.activation.substitution import Replacement, Values, substituted

if TYPE_CHECKING:
    from prowess.runtime.state import ActiveSkill

_KEPT = 32  # more than any session has active skills


def values_for(skill: ActiveSkill, *, session_id: str, expose_location: bool) -> Values:
    """Return what the placeholders of a skill stand for; a hidden directory is `.`, which its paths are relative to."""
    declared = extended_fields(skill.properties).arguments
    return Values(
        skill_dir=skill.root_dir if expose_location else ".",
        session_id=session_id,
        args=skill.args,
        declared={argument.name: argument.default for argument in declared},
    )


class Rendering:
    """Renders each body once for each activation: `instructions()` asks for it at every call."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str, str | None, tuple[str, ...]], str] = {}

    def text(self, skill: ActiveSkill, body: str, *, session_id: str, expose_location: bool) -> str:
        """Return `body`, which is that of `skill`, as it is in force."""
        if "$" not in body and not skill.outputs:
            return body
        key = (skill.location, skill.document_digest, skill.args, skill.outputs)
        known = self._texts.get(key)
        if known is None:
            values = values_for(skill, session_id=session_id, expose_location=expose_location)
            found = commands(body) if skill.outputs else ()
            outputs = [
                Replacement(start=command.start, end=command.end, text=output)
                for command, output in zip(found, skill.outputs, strict=False)
            ]
            known = substituted(body, values, outputs)
            while len(self._texts) >= _KEPT:
                del self._texts[next(iter(self._texts))]
            self._texts[key] = known
        return known
