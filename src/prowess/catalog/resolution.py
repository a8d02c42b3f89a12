"""Resolution of a name: every copy with its state, the rule that decided, and what to change.

A copy is `active` (used for the plain name), `shadowed` (listed, but another copy is used, or the name is reserved),
`skipped` (a fault), `held_back` (its source is not trusted), `out_of_scope` or `disabled` (hidden from this audience).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess.catalog.faults import CATALOG_RULES, fault
from prowess.catalog.layers import Layer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.sources.locked.locked_source import LockedSource
    from prowess.catalog.viewing.left_out import LeftOut
    from prowess.diagnostics import Diagnostic

CopyState = Literal["active", "shadowed", "skipped", "held_back", "out_of_scope", "disabled"]


class Copy(Struct, frozen=True, kw_only=True):
    """One copy of a name. `rule` decided about its state.

    `reason` completes the sentence "it is ...". `advice` states what to change, or None if the copy is in use or there
    is nothing to change. `entry` is None if the skill could not be read. `locked` is the lock that names the copy, or
    None.
    """

    state: CopyState
    rule: str
    reason: str
    advice: str | None
    layer: Layer
    source: str
    origin: str | None
    location: str
    entry: SkillEntry | None = None
    locked: LockedSource | None = None

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other paths to the directory of the copy."""
        return () if self.entry is None else self.entry.aliases


class Resolution(Struct, frozen=True, kw_only=True):
    """All copies of one name, the copy in use first, by precedence. `winner` is None if no copy is used."""

    name: str
    winner: SkillEntry | None
    copies: tuple[Copy, ...]

    @property
    def shadowed(self) -> tuple[Copy, ...]:
        """The copies in the state `shadowed`."""
        return tuple(copy for copy in self.copies if copy.state == "shadowed")


def resolve(
    copies: Sequence[SkillEntry],
    *,
    ranks: Mapping[Layer, int],
    left_out: Sequence[LeftOut] = (),
    blocked: tuple[LeftOut, Sequence[SkillEntry]] | None = None,
) -> Resolution:
    """Return the resolution of one name.

    `copies` are the listed copies in the order of precedence. `blocked` are copies whose name is reserved, with the
    copy that reserves it. At least one of `copies` and `left_out` must not be empty.
    """
    found = [_left_out(one) for one in left_out]
    if copies:
        winner = copies[0]
        found = [_active(copies), *(_shadowed(entry, winner) for entry in copies[1:]), *found]
    if blocked is not None:
        holder, entries = blocked
        found += [_reserved(entry, holder) for entry in entries]
    # Stable: within a layer, listed copies come before those that are left out.
    found.sort(key=lambda copy: ranks[copy.layer])
    name = copies[0].name if copies else left_out[0].names[-1]
    return Resolution(name=name, winner=copies[0] if copies else None, copies=tuple(found))


def _copy(entry: SkillEntry, state: CopyState, rule: str, reason: str, advice: str | None = None) -> Copy:
    return Copy(
        state=state,
        rule=rule,
        reason=reason,
        advice=advice,
        layer=entry.layer,
        source=entry.source,
        origin=entry.origin,
        location=entry.location,
        entry=entry,
        locked=entry.locked,
    )


def _active(copies: Sequence[SkillEntry]) -> Copy:
    winner = copies[0]
    if len(copies) == 1:
        return _copy(winner, "active", "catalog.only", "active")
    second = copies[1]
    rule = _deciding(winner, second)
    match rule:
        case "catalog.layer":
            why = f"{winner.layer} is a higher layer than {second.layer}"
        case "catalog.priority":
            why = f"its priority {winner.priority} is higher than {second.priority}"
        case "catalog.order":
            why = "its plugin was added last" if winner.layer is Layer.PLUGIN else "its directory is searched first"
        case _:
            why = "its path sorts first"
    return _copy(winner, "active", rule, f"active ({why})")


def _deciding(winner: SkillEntry, other: SkillEntry) -> str:
    """Return the first rule by which `winner` precedes `other`."""
    if other.layer is not winner.layer:
        return "catalog.layer"
    if other.priority != winner.priority:
        return "catalog.priority"
    return "catalog.order" if other.source_id != winner.source_id else "catalog.path"


def _shadowed(entry: SkillEntry, winner: SkillEntry) -> Copy:
    rule = _deciding(winner, entry)
    match rule:
        case "catalog.layer":
            why = f"by {winner.layer} (a higher layer replaces the whole skill)"
            advice = _advice_on_layers(entry, winner.layer, winner.root_dir)
        case "catalog.priority":
            why = f"by {winner.root_dir} (its priority {winner.priority} is higher than {entry.priority})"
            advice = f"give this copy a priority above {winner.priority}, or remove the other one"
        case "catalog.order" if entry.layer is Layer.PLUGIN:
            why = f"by the plugin {winner.source} (of two plugins, the one that was added later wins)"
            last = "name its plugin last" if entry.locked is None else "install its package again"
            advice = f"{last}, give this copy a higher priority, or use {entry.qualified_name}"
        case "catalog.order":
            why = f"by {winner.root_dir} (its directory is searched earlier)"
            advice = "give this copy a higher priority, or remove the other one"
        case _:
            why = f"by {winner.root_dir} (in one directory, the first path wins)"
            advice = "give this copy a higher priority, or rename or remove one of the two"
    if entry.layer is Layer.PLUGIN:
        why += f"; still reachable as {entry.qualified_name}"
    return _copy(entry, "shadowed", rule, f"shadowed {why}", advice)


def _advice_on_layers(entry: SkillEntry, above: Layer, place: str) -> str:
    """Return what to change, so that `entry` is used in place of the copy at `place` in the higher layer `above`."""
    if above is Layer.ENTERPRISE:
        return "rename this copy; only an administrator can change the enterprise skill"
    advice = f"rename this copy, or remove {place}"
    if {entry.layer, above} == {Layer.PERSONAL, Layer.PROJECT}:
        advice += f", or use --layers-order {entry.layer}-first (setting layers.order)"
    return advice


def _reserved(entry: SkillEntry, holder: LeftOut) -> Copy:
    state = "skipped" if holder.state == "skipped" else "not visible here"
    why = f"the name belongs to a skill of a higher layer that is {state}: {holder.location}"
    advice = _advice_on_layers(entry, holder.layer, holder.location)
    return _copy(entry, "shadowed", "catalog.reserved", f"shadowed ({why})", advice)


def _left_out(one: LeftOut) -> Copy:
    return Copy(
        state=one.state,
        rule=one.rule,
        reason=f"skipped: {one.reason}" if one.state == "skipped" else one.reason,
        advice=_repair(one) if one.state == "skipped" else one.advice,
        layer=one.layer,
        source=one.source,
        origin=one.origin,
        location=one.location,
        entry=one.entry,
        locked=one.locked,
    )


def _repair(one: LeftOut) -> str:
    if one.locked is not None and one.rule == "catalog.locked":
        return f"run `{one.locked.repair}`"
    if one.rule in CATALOG_RULES:
        return "correct what the reason names"
    return f"correct the file; `prowess check {one.location}` shows every fault"


def shadow_warnings(clashes: Mapping[str, Sequence[SkillEntry]]) -> list[Diagnostic]:
    """Return a warning for each shadowed copy, except for an installed skill whose SKILL.md in use is the same.

    Such a copy is usually one that `prowess install --target` placed where another agent reads it.
    """
    found = []
    for _, copies in sorted(clashes.items()):
        winner = copies[0]
        in_use = f"in use is {winner.location} ({winner.layer}, {winner.source})"
        for entry in copies[1:]:
            if entry.locked is not None and _is_same(entry, winner):
                continue
            shadowed = _shadowed(entry, winner)
            message = f"{winner.name!r} is not used: {shadowed.reason}; {in_use}"
            found.append(fault("catalog.shadowed", shadowed.location, message, skill=winner.name))
    return found


def _is_same(entry: SkillEntry, other: SkillEntry) -> bool:
    try:
        return entry.document_digest == other.document_digest
    except OSError:
        return False


def blocked_errors(
    blocked: Mapping[str, tuple[LeftOut, Sequence[SkillEntry]]],
) -> tuple[dict[str, str], list[Diagnostic]]:
    """Return why each name is reserved, by key, and one error for each of the `blocked` skills.

    `blocked` maps the key of a reserved name to the skipped skill that reserves it and the copies of lower layers.
    """
    reasons: dict[str, str] = {}
    found = []
    for key, (holder, entries) in blocked.items():
        why = holder.why_missing
        reasons[key] = f"{why}; {entries[0].location} does not replace it, because its layer is lower"
        for entry in entries:
            message = (
                f"{entry.name!r} is not used: the name belongs to a skill of a higher layer that is skipped: {why}"
            )
            found.append(fault("catalog.reserved", entry.location, message, skill=entry.name))
    return reasons, found


def hidden_text_warnings(entries: Iterable[SkillEntry]) -> list[Diagnostic]:
    """Return a finding for each description with invisible characters."""
    message = "the description has invisible characters; models see it without them"
    return [fault("catalog.hiddenText", entry.location, message, skill=entry.name) for entry in entries]
