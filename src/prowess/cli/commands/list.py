"""`prowess list`: lists the skills of the catalog, and reports each skill that is not listed with the reason."""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins
from msgspec.structs import asdict

from prowess._internal.text.near_words import near_words
from prowess._internal.text.terminal_text import columns, fitting, printable_line
from prowess.catalog.matching import SUGGESTED
from prowess.cli import exit_codes, output
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.policy_effects import PolicyEffects
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prowess.catalog import Catalog, SkillEntry
    from prowess.catalog.other_agents.places import OtherAgent
    from prowess.catalog.other_agents.view import AgentView, ListCost, SeenSkill
    from prowess.diagnostics import Diagnostic

_PIPED_COLUMNS = 80
_LONGEST_NAME = 40
_SHORTEST_DESCRIPTION = 20
_MOST_FINDINGS = 20
_LOOKED_AT = 4  # characters of a description for each column; it may have longer blanks, or characters without width
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
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(*, prefix: str, skills: CatalogOptions, tags: tuple[str, ...], seen_by: str | None, as_json: bool) -> int:
    """List the skills that are available here, or those whose names begin with PREFIX.

    Skills that were left out are reported on standard error, with the reason.

    Each skill is a directory with a SKILL.md. The catalog searches .prowess/skills, .agents/skills and .claude/skills
    of this project (the working directory and its parents, up to .git; see `prowess trust`), the same three folders in
    your home directory, /etc/prowess/skills, the installed packages that you trust, and plugins
    given with --plugin. With --root DIR, it searches only DIR and /etc/prowess/skills.

    \b
    Example:
      prowess list --root examples/skills
      prowess list --tag pdf --tag forms
      prowess list --seen-by claude-code
    """  # noqa: D301 -- click needs the control character
    if seen_by is not None:
        return _list_seen_by(seen_by, prefix, skills, tags, as_json=as_json)
    catalog = skills.open(quiet=as_json, asks=not as_json)
    entries = catalog.entries(prefix=prefix, tags=tags)
    if as_json:
        output.long_document(_document(catalog, entries, PolicyEffects(catalog)))
        return exit_codes.OK
    if entries:
        output.raw_parts(_rows(entries, PolicyEffects(catalog)))
    if not skills.quiet:
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
    places = {entry.source_id: _place(entry) for entry in {entry.source_id: entry for entry in entries}.values()}
    shown = [places[entry.source_id] for entry in entries]
    if effects.policy is None:
        return _table(names, shown, (entry.description for entry in entries))
    return _table(names, shown, (_shown_description(entry, effects) for entry in entries))


def _place(entry: SkillEntry) -> str:
    # A skill of another server is always in the lowest layer, so the server is shown instead.
    return entry.layer.value if entry.origin is None else printable_line(entry.source)


def _table(names: list[str], places: list[str], texts: Iterable[str]) -> Iterator[str]:
    """Yield one line for each skill: its name, its place, and as much of the text as fits."""
    widths = list(map(columns, names))
    name_width = min(max(widths), _LONGEST_NAME)
    place_width = max(map(len, places))
    left = max(_columns() - name_width - place_width - 4, _SHORTEST_DESCRIPTION)
    for name, width, place, text in zip(names, widths, places, texts, strict=True):
        yield f"{name}{' ' * (name_width - width)}  {place:<{place_width}}  {_shortened(text, left)}\n"


def _shown_description(entry: SkillEntry, effects: PolicyEffects) -> str:
    """Return the description. If the policy denies the skill or asks about it, the decision comes first."""
    effect = effects.of(entry)
    if effect is None or effect.effect == "allow":
        return entry.description
    return f"({effect.short}) {entry.description}"


def _columns() -> int:
    if not sys.stdout.isatty():
        return _PIPED_COLUMNS
    from shutil import get_terminal_size  # Imported here because a pipe has no width.

    return get_terminal_size().columns


def _shortened(text: str, width: int) -> str:
    """Return `text` as one line of at most `width` columns, cut between words if that loses less than half of it."""
    text = text.strip()
    line = text[: width + 1]
    if line.isascii() and line.isprintable() and "  " not in line:  # most are
        if len(line) <= width:
            return line
        line = line[: width - 1]
    else:
        part = text[: _LOOKED_AT * width]  # a long text is not split as a whole
        line = printable_line(" ".join(part.split()))
        if columns(line) <= width and len(part) < len(text):
            line = printable_line(" ".join(text.split()))
        if columns(line) <= width:
            return line
        line = fitting(line[: width - 1], width - 1)
    words, blank, _ = line.rpartition(" ")
    return f"{words if blank and len(words) > width // 2 else line}…"


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
        "notices": catalog.notices,
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


def _list_seen_by(agent: str, prefix: str, skills: CatalogOptions, tags: tuple[str, ...], *, as_json: bool) -> int:
    # Imported here because a listing of this catalog needs no other agents.
    from prowess.catalog.other_agents.places import other_agent, sources_of
    from prowess.catalog.other_agents.view import view_of

    try:
        row = other_agent(agent)
    except InvalidArgumentsError as fault:
        raise click.UsageError(str(fault)) from None
    if given := [
        name for name, value in {**asdict(skills), "tags": tags}.items() if value and name not in {"quiet", "no_index"}
    ]:
        options = ", ".join(f"--{name.removesuffix('s').replace('_', '-')}" for name in given)
        raise click.UsageError(f"--seen-by searches the directories of {agent}; leave out {options}")
    try:
        view = view_of(row, os.getcwd())
    except FileNotFoundError:
        raise click.UsageError("the working directory does not exist any more") from None
    shown = [skill for skill in view.skills if skill.name.startswith(prefix)]
    if as_json:
        output.document(
            {
                "agent": {"id": agent, **to_builtins(row)} | {"sources": to_builtins(sources_of(row))},
                "directories": [{"path": path, "place": place} for path, place in view.places.items()],
                "skills": to_builtins(shown),
                "unreadable": [
                    {"location": one.place, "rule": one.rule, "reason": one.reason} for one in view.unreadable
                ],
                "elsewhere": view.elsewhere,
                "list": to_builtins(view.cost),
            }
        )
        return exit_codes.OK
    if listed := [skill for skill in shown if skill.state == "listed"]:
        names = [printable_line(skill.name) for skill in listed]
        texts = [skill.description[: skill.shown] for skill in listed]
        output.raw_parts(_table(names, [skill.place for skill in listed], texts))
    if not skills.quiet:
        for text in _remarks_on_view(row, view, shown):
            output.note(text)
    return exit_codes.OK


def _remarks_on_view(row: OtherAgent, view: AgentView, shown: list[SeenSkill]) -> Iterator[str]:
    """Yield one line for each copy that the agent does not list, and for each limit that cuts its list."""
    from prowess.catalog.other_agents.places import sources_of  # Imported here for the same reason as above.

    if not view.listed:
        yield f"{row.title} finds no skills here; it searches {', '.join(dict.fromkeys(view.places.values()))}"
    left = [f"{output.shown_path(skill.path)} is not listed: {skill.reason}" for skill in shown if skill.reason]
    left += [f"{output.shown_path(one.place)} cannot be read: {one.reason}" for one in view.unreadable]
    yield from map(printable_line, left[:_MOST_FINDINGS])
    if len(left) > _MOST_FINDINGS:
        yield f"{len(left) - _MOST_FINDINGS} more; add --json to see all"
    twice = sorted(name for name, number in Counter(skill.name for skill in view.listed).items() if number > 1)
    if twice:
        which = "all copies are listed" if row.same_name == "all" else "which copy is used is not documented"
        yield printable_line(f"found more than once, {which}: {', '.join(twice)}")
    if row.links is None and any(skill.location != f"{skill.path}/SKILL.md" for skill in view.listed):
        yield f"whether {row.title} follows links to directories is not documented"
    long = [skill.name for skill in view.listed if skill.shown < skill.length]
    if long and (view.cost is None or not view.cost.cut):
        limit = f"the description is cut after {row.budget.description} characters"
        yield printable_line(f"{limit}: {', '.join(long)}")
    if view.cost is not None and view.cost.characters > view.cost.limit:
        yield _cost(row, view.cost)
    if view.elsewhere:
        counts = [f"{output.shown_path(path)} ({number})" for path, number in view.elsewhere.items()]
        yield printable_line(f"skills in directories that {row.title} does not search: {', '.join(counts)}")
    documents = ", ".join(f"{source.url} ({source.read})" for source in sources_of(row))
    yield f"without plugins, built-in skills and settings of {row.title}; source: {documents}"


def _cost(row: OtherAgent, cost: ListCost) -> str:
    """Return a sentence on a list that is longer than its limit."""
    window = "" if row.budget.share is None else f", or {row.budget.share:.0%} of the context window"
    head = f"the list has {cost.characters} characters, at most {cost.limit} are shown{window}"
    if row.budget.beyond == "drop":
        return f"{head}: at least {cost.cut} descriptions are dropped"
    if cost.left_out:
        return f"{head}: all descriptions are dropped, and {cost.left_out} skills are left out"
    return f"{head}: {cost.cut} descriptions are shortened"
