"""`prowess list`: lists the skills of the catalog, and reports each skill that is not listed with the reason."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click
from msgspec.structs import asdict

from prowess._internal.text.near_words import near_words
from prowess._internal.text.terminal_text import printable_line
from prowess.catalog.matching import SUGGESTED
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.policy_effects import PolicyEffects
from prowess.cli.skill_table import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.catalog import Catalog, SkillEntry
    from prowess.diagnostics import Diagnostic

_MOST_FINDINGS = 20
_PLACE = ("layer", "source", "source_version", "origin", "location", "root_dir", "aliases")
_IN_JSON = ("name", "description", *_PLACE, "live", "properties")


def _complete_agent(context: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    del context, parameter
    from prowess.catalog.other_agents.places import other_agents  # Imported here because only completion needs it.

    return [name for name in other_agents() if name.startswith(text)]


@click.command()
@click.argument("prefix", default="")
@catalog_options
@click.option(
    "--tag", "tags", metavar="TAG", multiple=True, help="List only skills with this tag. Repeatable: with all of them."
)
@click.option(
    "--seen-by",
    metavar="AGENT",
    shell_complete=_complete_agent,
    help="List what another agent finds here, for example claude-code or codex.",
)
@json_option
def command(*, prefix: str, skills: CatalogOptions, tags: tuple[str, ...], seen_by: str | None, as_json: bool) -> int:
    """List the skills that are available here, or those whose names begin with PREFIX.

    Skills that were left out are reported on standard error, with the reason.

    Each skill is a directory with a SKILL.md. The catalog searches .prowess/skills, .agents/skills and .claude/skills
    of this project (the working directory and its parents, up to .git; see `prowess trust`), the same three folders in
    your home directory, /etc/prowess/skills, the skills that prowess.lock names (of this project and yours), the
    installed packages that you trust, and plugins given with --plugin. With --root DIR, it searches only DIR and
    /etc/prowess/skills.

    \b
    Example:
      prowess list --root examples/skills
      prowess list --tag pdf --tag forms
      prowess list --seen-by claude-code
    """  # noqa: D301 -- click needs the control character
    if seen_by is not None:
        # Imported here because a listing of this catalog needs no other agents.
        from prowess.cli.other_agent_list import list_seen_by

        return list_seen_by(seen_by, prefix, skills, tags, as_json=as_json)
    catalog = skills.open(quiet=as_json, asks=not as_json)
    entries, effects = catalog.entries(prefix=prefix, tags=tags), PolicyEffects(catalog)
    if as_json:
        output.long_document(_document(catalog, entries, effects))
        return exit_codes.OK
    if entries:
        output.raw_parts(_rows(entries, effects))
    if not skills.quiet:
        first = effects.of(entries[0]) if entries else None
        if first is not None and first.is_unreadable:
            output.note(printable_line(first.reason))
        for text in effects.old_deployments(entries):
            output.note(printable_line(f"{text}; `prowess sync` renews it"))
        if not entries:
            output.note(_why_none(catalog, prefix, tags, skills))
        for text in _remarks(catalog, skills.roots):
            output.note(text)
    return exit_codes.OK


def _why_none(catalog: Catalog, prefix: str, tags: tuple[str, ...], skills: CatalogOptions) -> str:
    if prefix and not catalog.entries(prefix=prefix):
        return f"no skill name begins with {prefix!r}{_meant(catalog, prefix)}"
    if not tags and skills.roots and not skills.plugins:
        return f"no skills found in {', '.join(map(output.shown_path, skills.roots))}"
    if not tags:
        return "no skills found; `prowess list --help` lists the places that are searched"
    known = {tag.casefold(): tag for entry in catalog.entries() for tag in entry.extended.tags}
    wanted = f"the {'tag' if len(tags) == 1 else 'tags'} {' and '.join(map(repr, tags))}"
    unknown = [tag.casefold() for tag in tags if tag.casefold() not in known]
    meant = [known[near] for tag in unknown for near in near_words(tag, known)]
    hint = f"; did you mean {' or '.join(map(repr, meant))}?" if meant else ""
    return f"no skill {f'whose name begins with {prefix!r} ' if prefix else ''}has {wanted}{hint}"


def _meant(catalog: Catalog, prefix: str) -> str:
    near = catalog.match(prefix, SUGGESTED)
    return f"; did you mean {' or '.join(repr(match.name) for match in near)}?" if near else ""


def _rows(entries: tuple[SkillEntry, ...], effects: PolicyEffects) -> Iterator[str]:
    names = [printable_line(entry.name) for entry in entries]
    shown = [_place(entry) for entry in entries]
    if effects.policy is None:
        return table(names, shown, (entry.description for entry in entries))
    return table(names, shown, (_shown_description(entry, effects) for entry in entries))


def _place(entry: SkillEntry) -> str:
    # A skill of another server is always in the lowest layer, so the server is shown instead.
    return entry.layer.value if entry.origin is None else printable_line(entry.source)


def _shown_description(entry: SkillEntry, effects: PolicyEffects) -> str:
    """Return the description. If the policy denies the skill or asks about it, the decision comes first."""
    effect = effects.of(entry)
    if effect is None or effect.effect == "allow":
        return entry.description
    return f"({effect.short}) {entry.description}"


def _remarks(catalog: Catalog, roots: tuple[str, ...]) -> list[str]:
    """Return one line for each skill that is left out or shadowed, and one with the number of skills with warnings."""
    told = catalog.problems
    lines = [_line(found) for found in told[:_MOST_FINDINGS]]
    if len(told) > _MOST_FINDINGS:
        lines.append(f"{len(told) - _MOST_FINDINGS} more; `prowess list --json` shows all")
    if odd := catalog.warned_files:
        import shlex  # Imported here: only this hint needs it.

        # Without roots, the skills can be in directories that a check of this directory does not visit.
        command = shlex.join(["prowess", "check", *map(os.fspath, roots)]) if roots else "prowess list --json"
        lines.append(printable_line(f"{odd} listed with warnings; `{command}` explains them"))
    return lines


def _line(found: Diagnostic) -> str:
    location = found.location
    place = output.shown_path(location.path or "")
    # The place has the same form as in `prowess check`. A finding of the catalog is about the whole skill and has no
    # line.
    spot = f":{location.line}:{location.column}" if found.family != "catalog" else ""
    return f"{place}{spot} {found.severity} {found.rule}  {printable_line(found.message)}"


def _document(catalog: Catalog, entries: tuple[SkillEntry, ...], effects: PolicyEffects) -> dict[str, object]:
    winners = {entry.key: entry for entry in entries}
    clashing = {entry.key: entry.name for entry in catalog.all_entries() if winners.get(entry.key, entry) is not entry}
    return {
        "skills": ({**_entry(entry), **effects.as_member(entry)} for entry in entries),
        "shadowed": (
            {**_entry(copy.entry), "reason": copy.reason, **effects.as_member(copy.entry)}
            for name in clashing.values()
            for copy in catalog.why(name).shadowed
            if copy.entry is not None
        ),
        "diagnostics": (_diagnostic(found) for found in catalog.diagnostics),
        "notices": [
            *catalog.notices,
            *({"code": "deployment_too_old", "message": text} for text in effects.old_deployments(entries)),
        ],
    }


def _entry(entry: SkillEntry) -> dict[str, object]:
    return {name: getattr(entry, name) for name in _IN_JSON}


def _diagnostic(found: Diagnostic) -> dict[str, object]:
    """Return a finding in the form of `prowess check --json`."""
    return {
        "rule": found.rule,
        "family": found.family,
        "severity": found.severity.value,
        "message": found.message,
        **asdict(found.location),
        "skill": found.skill,
    }
