"""`prowess why`: shows which copy of a skill is used, which copies are shadowed, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.skill_completion import complete_skill
from prowess.cli.policy_effects import PolicyEffects

if TYPE_CHECKING:
    from prowess.catalog import Resolution, SkillEntry


@click.command()
@click.argument("name", shell_complete=complete_skill)
@catalog_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(*, name: str, skills: CatalogOptions, as_json: bool) -> int:
    """Show which copy of the skill NAME is used, which are shadowed, and why.

    If all copies were left out or held back, the reason is shown. If there is a policy, its decision about each copy is
    shown.

    \b
    Example:
      prowess why csv-report --root examples/skills
    """  # noqa: D301 -- click needs the control character
    catalog = skills.open(quiet=as_json)
    found, effects = catalog.why(name), PolicyEffects(catalog)
    if as_json:
        output.document(_document(found, effects))
    else:
        output.line("\n".join(_rows(found, effects)))
    return exit_codes.OK


def _copies(found: Resolution) -> list[tuple[SkillEntry, str]]:
    winner = [(found.winner, "active")] if found.winner is not None else []
    return [*winner, *((shadowed.entry, shadowed.reason) for shadowed in found.shadowed)]


def _rows(found: Resolution, effects: PolicyEffects) -> list[str]:
    copies = _copies(found)
    places = [_place(entry) for entry, _ in copies]
    layer_width = max(len(entry.layer.value) for entry, _ in copies)
    width = max(len(place) for place in places)
    lead = f"{printable_line(found.name)}  "
    rows = []
    for (entry, state), place in zip(copies, places, strict=True):
        rows.append(f"{lead}{entry.layer.value:<{layer_width}}  {place:<{width}}  {printable_line(state)}")
        lead = " " * len(lead)
        rows += [f"{lead}{'':<{layer_width}}  also reached as {output.shown_path(alias)}" for alias in entry.aliases]
        if (effect := effects.of(entry)) is not None:
            rows.append(f"{lead}{'':<{layer_width}}  policy: {printable_line(str(effect))}")
    return rows


def _place(entry: SkillEntry) -> str:
    if entry.layer.value == "plugin":
        return printable_line(f"{entry.source}: {entry.qualified_name}")
    return output.shown_path(entry.root_dir)


def _document(found: Resolution, effects: PolicyEffects) -> dict[str, object]:
    return {
        "name": found.name,
        "copies": [
            {
                "state": "active" if entry is found.winner else "shadowed",
                "reason": None if entry is found.winner else state,
                "layer": entry.layer.value,
                "source": entry.source,
                "origin": entry.origin,
                "location": entry.location,
                "aliases": list(entry.aliases),
                **effects.as_member(entry),
            }
            for entry, state in _copies(found)
        ],
    }
