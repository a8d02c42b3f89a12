"""`prowess policy`: shows the rules in force, tests a policy file, and replays recorded calls under it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from prowess._internal.places import audit_path, working_directory
from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.audit.record_options import since_option, until_option
from prowess.cli.options import json_option
from prowess.cli.options.organisation_options import OrganisationOptions, organisation_options
from prowess.cli.options.store_options import shared_database
from prowess.cli.organisation.policies import push, replay_lines, replayed_by_organisation
from prowess.cli.organisation.stored_policies import list_policies, remove_policy
from prowess.governance.replay.recorded_calls import replay_log, replay_records
from prowess.policy.decision import effect_of
from prowess.policy.expectations import ExpectationOutcome, check_expectations
from prowess.policy.policy_file import DEFAULT_EFFECT, PolicyFile, read_policy_file
from prowess.policy.policy_in_force import PolicyInForce, load_policy, policy_alone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.policy.approvals.rules import ApprovalRule
    from prowess.policy.policy import Policy
    from prowess.policy.rule import PolicyRule

_AN_EXPECTATION = 'add an expectation, for example call = "Bash(git status)" and effect = "allow" below [[expect]]'
_SETTINGS = (
    "allowed_tools",
    "dynamic_commands",
    "script_dirs",
    "env_allow",
    "read_scripts",
    "audit_required",
    "audit_sink",
    "require_signature",
    "max_age",
    "too_old",
)


@click.group(name="policy")
def command() -> None:
    """Show the policy in force, test a policy file, replay recorded calls under one, or push it to an organisation.

    Example: prowess policy test policy.toml
    """


@command.command(name="show")
@click.option("--policy", "policy_file", metavar="FILE", help="Additional policy file, as for other commands.")
@click.option("--store", "store_url", metavar="URL", help="Also the policies in the store of an organisation.")
@click.option("--tenant", metavar="NAME", help="With --store: those that hold for this tenant (default: default).")
@json_option
def show(policy_file: str | None, *, store_url: str | None, tenant: str | None, as_json: bool) -> int:
    """Print every rule with its file and line.

    Example: prowess policy show --policy policy.toml
    """
    if store_url is None and tenant is not None:
        raise click.UsageError("--tenant needs --store")
    policy = load_policy(policy_file) if store_url is None else _with_store(policy_file, store_url, tenant)
    if as_json:
        output.document({"files": [_file(file) for file in policy.files], "settings": _settings(policy)})
        return exit_codes.OK
    for line in _shown(policy):
        output.line(line)
    return exit_codes.OK


def _with_store(policy_file: str | None, url: str, tenant: str | None) -> Policy:
    """Return the policy of a session with this store."""
    # Imported here because SQLAlchemy takes long.
    from prowess.governance.shared_decisions import SharedDecisions

    source = SharedDecisions(shared_database(url, tenant))
    return PolicyInForce(policy_file=policy_file).apart(organisation=source).require()


@command.command(name="test")
@click.argument("file", metavar="FILE")
@json_option
def test(file: str, *, as_json: bool) -> int:
    """Check the `[[expect]]` tables of FILE against its rules alone.

    Paths are resolved from the working directory. Exits with 1 if an expectation fails, and with 2 if the file is
    faulty or has no expectations.

    Example: prowess policy test policy.toml
    """
    outcomes = check_expectations(read_policy_file(file), working_directory())
    failed = [outcome for outcome in outcomes if not outcome.holds]
    if as_json:
        output.document(
            {
                "expectations": len(outcomes),
                "hold": len(outcomes) - len(failed),
                "failed": [_failure(o) for o in failed],
            }
        )
    elif outcomes:
        for outcome in failed:
            output.line(outcome.sentence)
        output.line(f"{len(outcomes) - len(failed)} of {len(outcomes)} expectations hold")
    if not outcomes:
        output.error(f"{printable_line(file)} has no [[expect]], so nothing was tested; {_AN_EXPECTATION}")
        return exit_codes.USAGE
    return exit_codes.FAILED if failed else exit_codes.OK


@command.command(name="replay")
@click.argument("file", metavar="NEW")
@click.option("--log", metavar="PATH", help="A log; defaults to audit/audit.jsonl in PROWESS_HOME. It is verified.")
@click.option("--records", metavar="PATH", help="A file with one record on each line, which is not verified.")
@organisation_options
@since_option
@until_option
@json_option
def replay(
    file: str,
    *,
    log: str | None,
    records: str | None,
    of: OrganisationOptions,
    since: str | None,
    until: str | None,
    as_json: bool,
) -> int:
    """Decide recorded calls again by the policy file NEW alone: who would have been denied or asked.

    A call counts as unknown if its effect depends on a value that is not recorded, such as an argument. Exits with 1 if
    the log has a fault. With --store or --server, the calls are those in the log of a tenant of the organisation.

    Example: prowess policy replay new.toml --since 2026-11-01
    """
    if log is not None and records is not None:
        raise click.UsageError("--log and --records exclude each other")
    of.require_alone(log=log, records=records)
    if of.given:
        found = replayed_by_organisation(of, file, since, until)
    elif records is not None:
        found = replay_records(policy_alone(file), records, since=since, until=until)
    else:
        found = replay_log(policy_alone(file), log or audit_path(), since=since, until=until)
    if as_json:
        output.document(to_builtins(found))
    else:
        for line in replay_lines(found):
            output.line(line)
    if records is None and not found.verified:
        output.error("the log was tampered with or damaged; run `prowess audit verify`")
        return exit_codes.FAILED
    return exit_codes.OK


command.add_command(push)
command.add_command(list_policies)
command.add_command(remove_policy)


def _shown(policy: Policy) -> Iterator[str]:
    if not policy.files:
        yield "no policy file: the skill tools, registered functions, Read, Glob and Grep are allowed"
        yield "                Write, Edit and Bash ask"
    for file in policy.files:
        yield printable_line(file.path)
        for rule in file.rules:
            yield f"  {rule.origin.line:>4}  {printable_line(str(rule))}"
            if further := _further(rule):
                yield f"        {further}"
            if rule.reason:
                yield f"        {printable_line(rule.reason)}"
        for demand in file.approval_rules:
            yield f"{demand.origin.line:6}  approval {printable_line(_demand(demand))}"
        for role, held in _roles(file).items():
            yield f"        role {role}: {printable_line(held if isinstance(held, str) else _members(held))}"
        if file.packages is not None and file.packages.sources is not None:
            yield f"        packages from {printable_line(', '.join(file.packages.sources)) or 'no source'}"
        said = "" if file.default else " (the file sets none)"
        yield f"        default {'as without a policy file' if file.built_in else f'{_default(file)}{said}'}"
    for name, value in _settings(policy).items():
        yield f"{name}: {_text(value)}"


def _text(value: object) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return printable_line(", ".join(value) or "none") if isinstance(value, tuple) else str(value)


def _settings(policy: Policy) -> dict[str, object]:
    return {name: getattr(policy, name) for name in _SETTINGS}


def _file(file: PolicyFile) -> dict[str, object]:
    return {
        "path": file.path,
        "default": None if file.built_in else _default(file),
        "default_set": file.default is not None,
        "package_sources": None if file.packages is None else file.packages.sources,
        "roles": _roles(file) or None,
        "rules": [_rule(rule) for rule in file.rules],
        "approvals": [
            {
                "id": demand.id,
                "for": demand.words,
                "count": demand.count,
                "roles": demand.roles,
                "expires": demand.expires,
                "own": demand.own,
                "origin": str(demand.origin),
            }
            for demand in file.approval_rules
        ],
    }


def _roles(file: PolicyFile) -> dict[str, dict[str, list[str]] | str]:
    """Return who has which role by this file; empty if it gives no roles."""
    if file.roles is None:
        return {}
    found: dict[str, dict[str, list[str]] | str] = {
        one.role: {"users": sorted(one.users), "groups": sorted(one.groups)} for one in file.roles.members
    }
    return {**found, "others": file.roles.others}


def _members(held: dict[str, list[str]]) -> str:
    return "; ".join(f"{key} {', '.join(names)}" for key, names in held.items() if names)


def _default(file: PolicyFile) -> str:
    return file.default or DEFAULT_EFFECT


def _further(rule: PolicyRule) -> str:
    """Return the id of a rule, its end, and that it is only monitored, in one line."""
    until = _until(rule)
    ends = "" if until is None else f"{'ended' if rule.has_ended else 'until'} {until}"
    name = "" if rule.id is None else f"id {rule.id}"
    return ", ".join(part for part in (name, ends, "monitored, not enforced" if rule.monitored else "") if part)


def _demand(demand: ApprovalRule) -> str:
    """Return an entry `[[approval]]` in one line."""
    people = f"{demand.count} {'person' if demand.count == 1 else 'people'}"
    parts = [f"for {', '.join(demand.words)}: {people} with the role {' or '.join(demand.roles)}"]
    parts += [] if demand.own else ["not the author"]
    parts += [] if demand.expires is None else [f"for {demand.expires} s"]
    return ", ".join(parts)


def _until(rule: PolicyRule) -> str | None:
    if rule.until is None:
        return None
    return datetime.fromtimestamp(rule.until, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _rule(rule: PolicyRule) -> dict[str, object]:
    return {
        "id": rule.id,
        "mode": "monitor" if rule.monitored else "enforce",
        "until": _until(rule),
        "ended": rule.has_ended,
        "effect": rule.effect,
        "tool": rule.tool,
        "match": {match.argument: list(match.patterns) for match in rule.matches},
        "reason": rule.reason,
        "origin": str(rule.origin),
    }


def _failure(outcome: ExpectationOutcome) -> dict[str, object]:
    decision = outcome.decision
    return {
        "origin": str(outcome.expectation.origin),
        "tool": outcome.expectation.call.tool,
        "arguments": dict(outcome.expectation.call.arguments),
        "expected": outcome.expectation.effect,
        "decided": effect_of(decision),
        "rule": decision.rule,
        "rule_origin": None if decision.origin is None else str(decision.origin),
        "reason": decision.reason,
    }
