"""Rendering of an active skill's body: placeholders replaced, command outputs inserted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.format.commands import commands
from prowess.format.fields.extended_fields import extended_fields
from prowess.runtime.activation.substitution import NOTHING, Replacement, Substituted, Values, substituted
from prowess.runtime.disclosure import model_texts
from prowess.runtime.disclosure.compaction import mark_of

if TYPE_CHECKING:
    from prowess.runtime.activation.snapshots import Snapshot, Snapshots
    from prowess.runtime.activation.substitution import FirstArgument, Substitutions
    from prowess.runtime.state import ActiveSkill

_KEPT = 32  # texts; more than any session has active skills


def values_for(skill: ActiveSkill, session_id: str, *, expose_location: bool, first_argument: FirstArgument) -> Values:
    """Return the values of a skill's placeholders. With `expose_location=False` the skill's directory is `.`."""
    declared = extended_fields(skill.properties).arguments
    return Values(
        skill_dir=skill.root_dir if expose_location else ".",
        session_id=session_id,
        args=skill.args,
        declared={argument.name: argument.default for argument in declared},
        first_argument=first_argument,
    )


def rendered(
    skill: ActiveSkill, body: str, session_id: str, *, expose_location: bool, first_argument: FirstArgument
) -> Substituted:
    """Return a body with placeholders and commands replaced. With `expose_location=False` the directory is `.`."""
    if _is_verbatim(skill, body):
        return Substituted(text=body)
    found = commands(body) if skill.outputs else ()
    outputs = [
        Replacement(start=command.start, end=command.end, text=output)
        for command, output in zip(found, skill.outputs, strict=False)
    ]
    values = values_for(skill, session_id, expose_location=expose_location, first_argument=first_argument)
    return substituted(body, values, outputs)


def _is_verbatim(skill: ActiveSkill, body: str) -> bool:
    return "$" not in body and not skill.outputs and not skill.args


class Rendering:
    """Renders the bodies of one session's skills, without paths of this machine if `expose_location` is False.

    Each body is rendered once per activation and cached, because `instructions()` needs it at every call.
    """

    def __init__(
        self, snapshots: Snapshots, session_id: str, *, expose_location: bool, first_argument: FirstArgument
    ) -> None:
        self._snapshots, self._session_id, self.expose_location = snapshots, session_id, expose_location
        self._first_argument: FirstArgument = first_argument
        self._texts: dict[tuple[str, str, str | None, tuple[str, ...]], Substituted] = {}

    def content(self, snapshot: Snapshot, skill: ActiveSkill, *, raw: bool = False) -> str:
        """Return the content of a skill for a conversation: its rendered body, or the file as written if `raw`."""
        source = snapshot.source
        body = source.document.text if raw else self.text(skill)
        return model_texts.skill_content(
            skill.name,
            source.body if body is None else body,
            directory=skill.root_dir if self.expose_location else None,
            resources=[file.path for file in source.manifest.files if file.path != "SKILL.md"],
            mark=mark_of(self._session_id, skill),
        )

    def text(self, skill: ActiveSkill) -> str | None:
        """Return the rendered body; None if the loaded body is no longer available. Blocks."""
        found = self._rendered(skill)
        return None if found is None else found.text

    def substitutions(self, skill: ActiveSkill) -> Substitutions:
        """Return the substitutions made in the body. Blocks."""
        found = self._rendered(skill)
        return NOTHING if found is None else found.substitutions

    def _rendered(self, skill: ActiveSkill) -> Substituted | None:
        body = self._snapshots.body(skill)
        if body is None:
            return None
        if _is_verbatim(skill, body):
            return Substituted(text=body)
        key = (skill.location, skill.document_digest, skill.args, skill.outputs)
        known = self._texts.get(key)
        if known is None:
            shown, first = self.expose_location, self._first_argument
            known = rendered(skill, body, self._session_id, expose_location=shown, first_argument=first)
            while len(self._texts) >= _KEPT:
                del self._texts[next(iter(self._texts))]
            self._texts[key] = known
        return known
