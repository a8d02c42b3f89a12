"""Who won a name, who is shadowed, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.catalog.layers import Layer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.catalog.entry import SkillEntry


class Shadowed(Struct, frozen=True, kw_only=True):
    """A copy that does not answer to the bare name; `reason` completes the sentence "it is ..."."""

    entry: SkillEntry
    reason: str


class Resolution(Struct, frozen=True, kw_only=True):
    """All copies of one name: the one that is used, and the others in the order in which they would follow."""

    name: str
    winner: SkillEntry | None
    shadowed: tuple[Shadowed, ...] = ()


def resolve(name: str, copies: Sequence[SkillEntry]) -> Resolution:
    """Explain `copies`, at least one, which stand in the order of precedence."""
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
    return f"shadowed by {winner.root_dir} (of one directory the first path wins)"
