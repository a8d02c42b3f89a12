"""The list of `prowess list --seen-by`: what another agent finds here, and what its limits cut."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins
from msgspec.structs import asdict

from prowess._internal.text.terminal_text import printable_line
from prowess.catalog.other_agents.places import other_agent, sources_of
from prowess.catalog.other_agents.view import view_of
from prowess.cli import exit_codes, output
from prowess.cli.skill_table import table
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.catalog.other_agents.places import OtherAgent
    from prowess.catalog.other_agents.view import AgentView, ListCost, SeenSkill
    from prowess.cli.options.catalog_options import CatalogOptions

_MOST_SHOWN = 20  # copies that are not listed


def list_seen_by(agent: str, prefix: str, skills: CatalogOptions, tags: tuple[str, ...], *, as_json: bool) -> int:
    """Print what `agent` finds here, the skills whose names begin with `prefix`; return the exit code.

    Raises:
        click.UsageError: no such agent is known, an option of another search was given, or the working directory is
            gone.
    """
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
        output.raw_parts(table(names, [skill.place for skill in listed], texts))
    if not skills.quiet:
        for text in _remarks_on_view(row, view, shown):
            output.note(text)
    return exit_codes.OK


def _remarks_on_view(row: OtherAgent, view: AgentView, shown: list[SeenSkill]) -> Iterator[str]:
    """Yield one line for each copy that the agent does not list, and for each limit that cuts its list."""
    if not view.listed:
        yield f"{row.title} finds no skills here; it searches {', '.join(dict.fromkeys(view.places.values()))}"
    left = [f"{output.shown_path(skill.path)} is not listed: {skill.reason}" for skill in shown if skill.reason]
    left += [f"{output.shown_path(one.place)} cannot be read: {one.reason}" for one in view.unreadable]
    yield from map(printable_line, left[:_MOST_SHOWN])
    if len(left) > _MOST_SHOWN:
        yield f"{len(left) - _MOST_SHOWN} more; add --json to see all"
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
