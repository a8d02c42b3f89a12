"""`prowess policy push`, and the replay of an organisation's records."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from prowess._internal.files.toml_file import read_toml_bytes
from prowess._internal.text.terminal_text import counted, printable_line
from prowess.audit.record import time_text
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.organisation_options import OrganisationOptions, opened_organisation, organisation_options
from prowess.cli.organisation.waiting import waits_for_machines
from prowess.errors import PolicyDeniedError, PolicyError, ServerAnswerError
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.governance.replay.replay import Replayed

_MOST_USERS = 20


@click.command(name="push")
@click.argument("name", metavar="NAME")
@click.argument("file", metavar="FILE")
@organisation_options
@waits_for_machines
@click.option(
    "--accept",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="How many recorded calls the policy may newly deny.",
)
@json_option
def push(name: str, file: str, *, of: OrganisationOptions, accept: int, as_json: bool) -> int:
    """Make FILE the policy NAME of an organisation, or of one of its tenants.

    It holds for every call that begins afterwards, above the policy files of machines and users. First, the recorded
    calls of the last 30 days are decided by it. If it would newly deny more than N of them, nothing is changed, and the
    exit code is 3.

    \b
    Example:
      prowess policy push main policy.toml --store postgresql:///prowess --accept 3
    """  # noqa: D301 -- click needs the control character
    toml = _text(file)
    with opened_organisation(of, "administer", tenant=EVERY) as organisation:
        # Imported here because SQLAlchemy takes long.
        from prowess.governance.service.policies import NewPolicy, PushQuery
        from prowess.governance.service.replay import PUSH_DAYS, ReplayRequest, require_accepted

        stored = None
        try:
            stored = organisation.policies.push(name, NewPolicy(toml=toml), PushQuery(accept=accept))
            replayed = stored.replay
        except (PolicyDeniedError, ServerAnswerError) as fault:
            if isinstance(fault, ServerAnswerError) and fault.sent_code != PolicyDeniedError.code:
                raise
            since = time_text(datetime.now(UTC) - timedelta(days=PUSH_DAYS))
            replayed = organisation.replay.replay(ReplayRequest(toml=toml, name=file, since=since))
            if replayed.newly_denied <= accept:
                raise
    if not as_json:
        for line in replay_lines(replayed):
            output.line(line)
    if as_json:
        known = {key: None if stored is None else getattr(stored, key) for key in ("tenant", "number", "generation")}
        output.document({"name": name, "pushed": stored is not None, **known, "replay": to_builtins(replayed)})
    if stored is None:
        require_accepted(replayed, accept)
    elif not as_json:
        whom = "the organisation" if stored.tenant == EVERY else f"the tenant {stored.tenant}"
        output.line(printable_line(f"{name} is version {stored.number} of this policy of {whom} now"))
    return exit_codes.OK


def replayed_by_organisation(of: OrganisationOptions, file: str, since: str | None, until: str | None) -> Replayed:
    """Replay the records of a tenant under the policy in a file. Raises PolicyError if it has faults."""
    toml = _text(file)
    with opened_organisation(of, "audit") as organisation:
        from prowess.governance.service.replay import ReplayRequest  # Imported here because SQLAlchemy takes long.

        return organisation.replay.replay(ReplayRequest(toml=toml, name=file, since=since, until=until))


def replay_lines(found: Replayed) -> Iterator[str]:
    """Yield the result of a replay for people."""
    counts = f"{found.allow} allowed, {found.ask} asked, {found.deny} denied, {found.unknown} unknown"
    checked = "verified" if found.verified else "not verified"
    changed = f"{found.changed} would change, {found.newly_denied} newly denied"
    yield f"{counted(found.records, 'call')} ({checked}): {counts}; {changed}"
    for rule in found.by_rule:
        place = "" if rule.origin is None else f"  {rule.origin}"
        span = f"record {rule.first}" if rule.first == rule.last else f"records {rule.first} to {rule.last}"
        line = f"  {rule.effect:<5} {rule.rule}{place}  {counted(rule.records, 'call')}, {span}"
        yield printable_line(line)
    affected = [user for user in found.by_user if user.ask or user.deny or user.unknown]
    for user in affected[:_MOST_USERS]:
        name = user.user or "user not known"
        yield printable_line(f"  {name}: {user.deny} denied, {user.ask} asked, {user.unknown} unknown")
    if len(affected) > _MOST_USERS:
        yield f"  and {len(affected) - _MOST_USERS} more users; --json lists them"


def _text(file: str) -> str:
    try:
        return read_toml_bytes(file).decode()
    except UnicodeDecodeError:
        raise PolicyError((f"{file}: it is not UTF-8",)) from None
    except ValueError as fault:
        raise PolicyError((str(fault),)) from None
