"""`prowess why`: shows every copy of a skill, which one is used, why, and what to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.skill_completion import complete_skill
from prowess.cli.policy_effects import PolicyEffects

if TYPE_CHECKING:
    from prowess.catalog import Copy, Resolution


@click.command()
@click.argument("name", shell_complete=complete_skill)
@catalog_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
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
        output.line("\n".join(_rows(found, effects)))
        if found.winner is None:
            output.error(printable_line(f"no copy of {found.name!r} is used"))
    return exit_codes.FAILED if found.winner is None else exit_codes.OK


def _rows(found: Resolution, effects: PolicyEffects) -> list[str]:
    places = [_place(copy) for copy in found.copies]
    layer_width = max(len(copy.layer.value) for copy in found.copies)
    width = max(len(place) for place in places)
    lead = f"{printable_line(found.name)}  "
    rows = []
    for copy, place in zip(found.copies, places, strict=True):
        state = printable_line(copy.reason if copy.rule == "catalog.only" else f"{copy.reason} [{copy.rule}]")
        rows.append(f"{lead}{copy.layer.value:<{layer_width}}  {place:<{width}}  {state}")
        lead = " " * len(lead)
        below = f"{lead}{'':<{layer_width}}  "
        if copy.entry is not None and copy.layer.value == "plugin" and len(places) > 1:
            rows.append(f"{below}in {output.shown_path(copy.entry.root_dir)}")
        rows += [f"{below}also reached as {output.shown_path(alias)}" for alias in copy.aliases]
        if copy.advice is not None:
            rows.append(f"{below}to change this: {printable_line(copy.advice)}")
        if (effect := effects.of_copy(copy)) is not None:
            rows.append(f"{below}policy: {printable_line(str(effect))}")
    return rows


def _place(copy: Copy) -> str:
    if copy.entry is None:
        return output.shown_path(copy.location)
    if copy.layer.value == "plugin":
        return printable_line(f"{copy.source}: {copy.entry.qualified_name}")
    return output.shown_path(copy.entry.root_dir)


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
                "policy": effects.of_copy(copy),
            }
            for copy in found.copies
        ],
    }
