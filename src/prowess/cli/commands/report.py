"""`prowess report`: how skills are used, by the audit log."""

from __future__ import annotations

import csv
import io
import os
from typing import TYPE_CHECKING, Any

import click
from msgspec import to_builtins
from msgspec.structs import replace

from prowess._internal.places import audit_path
from prowess._internal.text.terminal_text import counted, printable_line
from prowess.audit.record import read_all
from prowess.audit.record_table import cell
from prowess.cli import exit_codes, output
from prowess.cli.audit.host_usage import usage_beside_log
from prowess.cli.audit.record_options import since_option, until_option
from prowess.cli.options import json_option
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.organisation_options import (
    OrganisationOptions,
    opened_organisation,
    organisation_options_beside_catalog,
)
from prowess.errors import InvalidArgumentsError
from prowess.governance.usage import GROUPS, UsageCounter, UsageCounts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.governance.usage import UsageReport, WeakSkill

_DIGEST = len("sha256:") + 12
_SHORT = ("activations", "success", "errors", "refusals", "script_failures", "duration_ms", "tokens")


def _groups(context: click.Context, parameter: click.Parameter, text: str) -> tuple[str, ...]:
    del context, parameter
    chosen = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for part in chosen:
        if part not in GROUPS:
            raise click.BadParameter(f"{part!r} is not a key; known here: {', '.join(GROUPS)}")
    return chosen


@click.command()
@click.option("--by", default="skill", show_default=True, metavar="KEYS", callback=_groups, help="Keys of a row.")
@click.option("--log", metavar="PATH", help="The log file; defaults to audit/audit.jsonl in PROWESS_HOME.")
@organisation_options_beside_catalog
@since_option
@until_option
@catalog_options
@click.option(
    "--from", "folders", multiple=True, metavar="DIR", help="Also read the sessions of agent hosts in DIR. Repeatable."
)
@click.option("--csv", "as_csv", is_flag=True, help="Print the rows as CSV for spreadsheets.")
@json_option
def command(
    *,
    by: tuple[str, ...],
    log: str | None,
    of: OrganisationOptions,
    since: str | None,
    until: str | None,
    skills: CatalogOptions,
    folders: tuple[str, ...],
    as_csv: bool,
    as_json: bool,
    **options: Any,  # noqa: ANN401 -- none is left
) -> int:
    """Report how skills are used: activations, outcomes, refusals, durations, failed scripts and tokens.

    By skill, each version (digest) has a row. Also lists the skills of the catalog that were never chosen, and those
    that were often abandoned or refused, with the numbers of records. Contents of messages are not recorded. With
    --store or --server, it is about the log of a tenant of the organisation.

    --from reads the sessions that Claude Code, Codex, Copilot CLI and Gemini CLI keep, such as ~/.claude/projects:
    activations by whom, refusals, errors, tokens, last use. What prowess feedback recorded is counted by version.

    Example: prowess report --by skill,team --since 2026-11-01
    """
    del options
    if as_csv and as_json:
        raise click.UsageError("--csv and --json exclude each other")
    if folders and as_csv:
        raise click.UsageError("--csv and --from exclude each other")
    if of.given:
        of.require_alone(log=log, root=skills.roots, plugin=skills.plugins, **{"from": folders})
        found, beside = _of_organisation(of.in_tenant(skills.tenant), by, since, until), None
    else:
        try:
            beside = usage_beside_log(folders, skills)
        except InvalidArgumentsError as fault:
            output.error(printable_line(str(fault)))
            return exit_codes.USAGE
        found = _of_file(log or audit_path(), by, since, until, skills, optional=log is None and beside.is_known)
        found = replace(found, never_chosen=beside.without_used(found.never_chosen))
    if as_json:
        output.document({**to_builtins(found), **({} if beside is None else beside.as_dict())})
    elif as_csv:
        output.raw(_csv(found))
    else:
        for line in (*_lines(found), *(() if beside is None else beside.lines())):
            output.line(printable_line(line))
    return exit_codes.OK


def _of_organisation(of: OrganisationOptions, by: tuple[str, ...], since: str | None, until: str | None) -> UsageReport:
    with opened_organisation(of, "audit") as organisation:
        from prowess.governance.service.analytics import UsageQuery  # Imported here because SQLAlchemy takes long.

        return organisation.analytics.report(UsageQuery(by=by, since=since, until=until))


def _of_file(
    path: str, by: tuple[str, ...], since: str | None, until: str | None, skills: CatalogOptions, *, optional: bool
) -> UsageReport:
    """Count the records of a log. If it is `optional` and missing, there are none."""
    counter, damaged = UsageCounter(by), 0
    for record in () if optional and not os.path.exists(path) else read_all(path):
        if record is None:
            damaged += 1
        elif (since is None or record.at >= since) and (until is None or record.at < until):
            counter.take(record)
    if damaged:
        output.note(f"{counted(damaged, 'line')} of the log cannot be read; run `prowess audit verify`")
    return counter.report(entry.name for entry in skills.open(quiet=True, asks=False).entries())


def _csv(found: UsageReport) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow([*_keys(found), *UsageCounts.__struct_fields__])
    table.writerows([cell(value) for value in row.values()] for row in found.rows)
    return text.getvalue()


def _keys(found: UsageReport) -> Sequence[str]:
    return [part for key in found.by for part in ((key, "digest") if key == "skill" else (key,))]


def _lines(found: UsageReport) -> Iterator[str]:
    yield f"{counted(found.records, 'record')}, by {', '.join(found.by)}"
    for row in found.rows:
        names = [str(row[key] or "-")[: _DIGEST if key == "digest" else 64] for key in _keys(found)]
        yield f"  {'  '.join(names)}: {', '.join(f'{key} {row[key]}' for key in _SHORT if row[key])}"
    yield from _weak("never chosen", found.never_chosen, "refused calls")
    yield from _weak("often abandoned", found.often_abandoned, "activations")
    yield from _weak("often refused", found.often_refused, "calls")


def _weak(title: str, skills: Sequence[WeakSkill], what: str) -> Iterator[str]:
    for one in skills:
        evidence = f": records {', '.join(map(str, one.records))}" if one.records else ""
        share = f" ({one.cases} of {one.of} {what})" if what != "refused calls" else ""
        yield f"{title}: {one.skill}{share}{evidence}"
