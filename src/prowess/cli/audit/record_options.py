"""Options that select records of a log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from prowess.audit.selection import FACTS, OUTCOMES, RecordFilter, moment
from prowess.cli.options import together

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prowess.governance.service.audit import AuditSelection


def _several(flag: str, metavar: str, text: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    return click.option(flag, f"{flag.removeprefix('--')}s", multiple=True, metavar=metavar, help=text)


def _moment(context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    del context
    try:
        return None if text is None else moment(text, end=parameter.name == "until")
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a date or time such as 2026-11-28 or 2026-11-28T10:00") from None


log_option = click.option(
    "--log",
    metavar="PATH",
    help="The log file; defaults to audit/audit.jsonl in PROWESS_HOME.",
)

since_option = click.option(
    "--since", metavar="TIME", callback=_moment, help="Records from this date or time on (UTC)."
)
until_option = click.option(
    "--until",
    metavar="TIME",
    callback=_moment,
    help="Records before this time, or up to and including this date (UTC).",
)
_OFFERED = tuple(fact for fact in FACTS if fact != "tenant")  # `--tenant` can be the tenant of a store
record_options = together(
    _several("--skill", "NAME", "Records about this skill, also as PLUGIN/NAME."),
    _several("--user", "NAME", "Records of this user."),
    _several("--session", "ID", "Records of this session."),
    _several("--kind", "KIND", "Records of this kind, or of kinds that begin with it: tool includes tool.started."),
    click.option(
        "--outcome", "outcomes", multiple=True, type=click.Choice(OUTCOMES), help="Records with this outcome."
    ),
    *(_several(f"--{fact}", "VALUE", f"Records with this {fact}.") for fact in _OFFERED if fact != "user"),
    since_option,
    until_option,
)


def record_filter(given: Mapping[str, Any], tenant: str | None = None) -> RecordFilter:
    """Return the filter of the values of `record_options`, by the names of the parameters, and of a tenant."""
    facts = {fact: given[f"{fact}s"] for fact in _OFFERED if given[f"{fact}s"]}
    return RecordFilter(
        skills=given["skills"],
        sessions=given["sessions"],
        kinds=given["kinds"],
        outcomes=given["outcomes"],
        facts=facts if tenant is None else {**facts, "tenant": (tenant,)},
        since=given["since"],
        until=given["until"],
    )


def selection_of(given: Mapping[str, Any]) -> AuditSelection:
    """Return the same criteria for the log of an organisation."""
    from prowess.governance.service.audit import AuditSelection  # Imported here because SQLAlchemy takes long.

    facts = {fact: given[f"{fact}s"] for fact in _OFFERED}
    return AuditSelection(
        skill=given["skills"],
        session=given["sessions"],
        kind=given["kinds"],
        outcome=given["outcomes"],
        since=given["since"],
        until=given["until"],
        **facts,
    )
