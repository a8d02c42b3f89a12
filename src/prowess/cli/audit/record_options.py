"""Options that select records of a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess.audit.selection import OUTCOMES, moment
from prowess.cli.options import together

if TYPE_CHECKING:
    from collections.abc import Callable


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
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")

record_options = together(
    _several("--skill", "NAME", "Records about this skill, also as PLUGIN/NAME."),
    _several("--user", "NAME", "Records of this user."),
    _several("--session", "ID", "Records of this session."),
    _several("--kind", "KIND", "Records of this kind, or of kinds that begin with it: tool includes tool.started."),
    click.option(
        "--outcome", "outcomes", multiple=True, type=click.Choice(OUTCOMES), help="Records with this outcome."
    ),
    click.option("--since", metavar="TIME", callback=_moment, help="Records from this date or time on (UTC)."),
    click.option(
        "--until",
        metavar="TIME",
        callback=_moment,
        help="Records before this time, or up to and including this date (UTC).",
    ),
)
