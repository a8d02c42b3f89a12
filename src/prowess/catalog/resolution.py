"""Resolution of a name: the copy in use, the shadowed copies, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.catalog.faults import fault
from prowess.catalog.layers import Layer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from prowess.catalog.entry import SkillEntry
    from prowess.diagnostics import Diagnostic


class Shadowed(Struct, frozen=True, kw_only=True):
    """A copy that is not used for the plain name. `reason` completes the sentence "it is ..."."""

    entry: SkillEntry
    reason: str


class Resolution(Struct, frozen=True, kw_only=True):
    """All copies of one name: the winner, which is used, and the shadowed copies in the order of precedence."""

    name: str
    winner: SkillEntry | None
    shadowed: tuple[Shadowed, ...] = ()


def resolve(name: str, copies: Sequence[SkillEntry]) -> Resolution:
    """Return the resolution of `copies`, which must not be empty and must be in the order of precedence."""
    winner = copies[0]
    shadowed = tuple(Shadowed(entry=entry, reason=_reason(entry, winner)) for entry in copies[1:])
    return Resolution(name=name, winner=winner, shadowed=shadowed)


def _reason(entry: SkillEntry, winner: SkillEntry) -> str:
    if entry.layer is Layer.PLUGIN:
        return f"shadowed; still reachable as {entry.qualified_name}"
    if entry.layer is not winner.layer:
        return f"shadowed by {winner.layer} (a higher layer replaces the whole skill)"
    if entry.source_id != winner.source_id:
        return f"shadowed by {winner.root_dir} (its directory is searched earlier)"
    return f"shadowed by {winner.root_dir} (in one directory, the first path wins)"


def shadow_warnings(clashes: Mapping[str, Sequence[SkillEntry]]) -> list[Diagnostic]:
    """Return a warning for each shadowed copy."""
    found = []
    for _, copies in sorted(clashes.items()):
        winner = copies[0]
        in_use = f"in use is {winner.location} ({winner.layer}, {winner.source})"
        for shadowed in resolve(winner.name, copies).shadowed:
            name = shadowed.entry.name
            message = f"{name!r} is not used: {shadowed.reason}; {in_use}"
            found.append(fault("catalog.shadowed", shadowed.entry.location, message, skill=name))
    return found


def blocked_errors(blocked: Sequence[SkillEntry], kept: Mapping[str, str]) -> tuple[dict[str, str], list[Diagnostic]]:
    """Return why each name is reserved, by key, and one error for each of the `blocked` skills.

    A name is reserved if a skipped skill of a higher layer has it. `kept` maps the key of each reserved name to the
    reason why that skill was skipped.
    """
    reasons: dict[str, str] = {}
    found = []
    for entry in blocked:
        why = kept[entry.key]
        reasons.setdefault(entry.key, f"{why}; {entry.location} does not replace it, because its layer is lower")
        message = f"{entry.name!r} is not used: the name belongs to a skill of a higher layer that is skipped: {why}"
        found.append(fault("catalog.reserved", entry.location, message, skill=entry.name))
    return reasons, found


def hidden_text_warnings(entries: Iterable[SkillEntry]) -> list[Diagnostic]:
    """Return a finding for each description with invisible characters."""
    message = "the description has invisible characters; models see it without them"
    return [fault("catalog.hiddenText", entry.location, message, skill=entry.name) for entry in entries]
