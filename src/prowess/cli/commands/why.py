"""`prowess why`: shows every copy of a skill, which one is used, why, and the remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import columns, printable_line, wrapped
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.skill_completion import complete_skill
from prowess.cli.policy_effects import PolicyEffects

if TYPE_CHECKING:
    from prowess.catalog import Copy, Resolution
    from prowess.catalog.sources.locked.locked_source import LockedSource


@click.command()
@click.argument("name", shell_complete=complete_skill)
@catalog_options
@json_option
def command(*, name: str, skills: CatalogOptions, as_json: bool) -> int:
    """Show every copy of the skill NAME: its state, the rule that decided, and what to change.

    A copy is active (used), shadowed, skipped, held_back, out_of_scope or disabled. The exit code is 1 if no copy is
    used. If there is a policy, its decision about each copy is shown.

    \b
    Example:
      prowess why csv-report --root examples/skills
    """  # noqa: D301 -- click needs the control character
    catalog = skills.open(quiet=as_json, one=True, asks=not as_json)
    found, effects = catalog.why(name), PolicyEffects(catalog)
    if as_json:
        output.document(_document(found, effects))
    else:
        output.line("\n".join(_rows(found, effects, output.width())))
        if found.winner is None:
            output.error(printable_line(f"no copy of {found.name!r} is used"))
    return exit_codes.FAILED if found.winner is None else exit_codes.OK


def _rows(found: Resolution, effects: PolicyEffects, room: int | None) -> list[str]:
    """Return the lines about each copy. If they do not fit into `room` columns, states are on lines of their own."""
    places = [_place(copy) for copy in found.copies]
    states = [copy.reason if copy.rule == "catalog.only" else f"{copy.reason} [{copy.rule}]" for copy in found.copies]
    layer_width = max(len(copy.layer.value) for copy in found.copies)
    width = max(len(place) for place in places)
    lead = f"{printable_line(found.name)}  "
    heads = [
        f"{copy.layer.value:<{layer_width}}  {place:<{width}}" for copy, place in zip(found.copies, places, strict=True)
    ]
    rows = [f"{head}  {printable_line(state)}" for head, state in zip(heads, states, strict=True)]
    is_stacked = room is not None and max(columns(f"{lead}{row}") for row in rows) > room
    below = " " * (columns(lead) + layer_width + 2)
    if room is not None and len(below) > room // 2:
        below = "  "
    lines: list[str] = []
    for copy, head, row, state in zip(found.copies, heads, rows, states, strict=True):
        lines.append(f"{lead}{head.rstrip() if is_stacked else row}")
        lead = " " * columns(lead)
        details = [state] if is_stacked else []
        if copy.entry is not None and copy.layer.value == "plugin" and len(places) > 1:
            details.append(f"in {output.shown_path(copy.entry.root_dir)}")
        if copy.locked is not None:
            lock = output.shown_path(copy.locked.lock)
            details.append(f"package {copy.locked.shown}, {copy.locked.signed}, locked by {lock}")
        details += [f"also reached as {output.shown_path(alias)}" for alias in copy.aliases]
        if copy.advice is not None:
            details.append(f"to change this: {copy.advice}")
        if (effect := effects.of_copy(copy)) is not None:
            details.append(f"policy: {effect}")
        for detail in details:
            lines += wrapped(f"{below}{printable_line(detail)}", room, f"{below}  ")
    return lines


def _place(copy: Copy) -> str:
    if copy.entry is None:
        return output.shown_path(copy.location)
    if copy.layer.value == "plugin":
        return printable_line(f"{copy.source}: {copy.entry.qualified_name}")
    return output.shown_path(copy.entry.root_dir)


def _lock(source: LockedSource) -> dict[str, object]:
    facts = {key: getattr(source.block, key) or None for key in ("package", "version", "source", "tree")}
    return {**facts, "signer": source.signer, "lock": source.lock}


def _document(found: Resolution, effects: PolicyEffects) -> dict[str, object]:
    return {
        "name": found.name,
        "copies": [
            {
                "state": copy.state,
                "rule": copy.rule,
                "reason": copy.reason,
                "advice": copy.advice,
                "layer": copy.layer.value,
                "source": copy.source,
                "origin": copy.origin,
                "location": copy.location,
                "aliases": list(copy.aliases),
                "version": None if copy.entry is None else next(iter(copy.entry.versions), None),
                "locked": None if copy.locked is None else _lock(copy.locked),
                "policy": effects.of_copy(copy),
            }
            for copy in found.copies
        ],
    }
