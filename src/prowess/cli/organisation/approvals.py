"""`prowess approve` and `approvals` with `--server`: questions and votes in the store of an organisation."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import click
from msgspec import Struct, to_builtins

from prowess._internal.text.terminal_text import printable, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options.organisation_options import note_tenant, opened_organisation
from prowess.format.name import normalise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.cli.options.organisation_options import OrganisationOptions
    from prowess.cli.organisation.local import LocalOrganisation
    from prowess.distribution.organisation_server.approvals import RemoteApprovals
    from prowess.distribution.organisation_server.client import RemoteOrganisation
    from prowess.governance.approving import Ballot
    from prowess.governance.service.approval_items import ApprovalItem, GivenVote, NewApproval
    from prowess.policy.approval import Scope

_OF_CALL = ("id", "state", "tool", "reason", "session", "needed", "given", "by")
_OF_SKILL = (
    "id", "state", "skill", "digest", "needed", "given", "rule", "origin", "roles", "capabilities", "by", "until",
)  # fmt: skip


def list_by_server(of: OrganisationOptions, *, as_json: bool) -> int:
    """List all questions of a tenant."""
    with opened_organisation(of, "approve") as organisation:
        found = list(_all(_remote(organisation)))
        if not found:
            note_tenant(organisation)
    if as_json:
        output.document({"items": [_row(one, of) for one in found], "next": None})
        return exit_codes.OK
    for one in found:
        output.line(f"{one.state:8}  {_told(one)}")
    if not found:
        output.note("nobody asked for an approval, and no call waits")
    return exit_codes.OK


def show_by_server(of: OrganisationOptions, wanted: str, *, as_json: bool) -> int:
    """Show one question as a person sees it before the vote, and every vote."""
    with _approvals(of) as approvals:
        found = approvals.get(wanted)
    if as_json:
        more = {"arguments": found.arguments} if found.kind == "call" else {"votes": to_builtins(found.votes)}
        output.document({**_row(found, of), "text": found.text, **more})
        return exit_codes.OK
    output.line(printable(found.text or ""))
    output.line(_told(found))
    for vote in found.votes:
        output.line(_line(vote))
    return exit_codes.OK


def vote_by_server(of: OrganisationOptions, wanted: str, ballot: Ballot, scope: Scope, *, as_json: bool) -> int:
    """Vote about one question, after a person at a terminal has looked at it."""
    with _approvals(of) as approvals:
        found = _voted(approvals, approvals.get(wanted), ballot, scope)
    return _answered(found, of, as_json=as_json)


def revoke_by_server(of: OrganisationOptions, wanted: str, reason: str, *, as_json: bool) -> int:
    """Make every vote about a question void."""
    with _approvals(of) as approvals:
        found = approvals.revoke(wanted, reason)
    return _answered(found, of, as_json=as_json)


class WantedApproval(Struct, frozen=True, kw_only=True):
    """The skill that a person approves. `capabilities` is None if its files were not read."""

    skill: str
    digest: str
    capabilities: tuple[str, ...] | None = None


def approve_by_server(of: OrganisationOptions, wanted: WantedApproval, ballot: Ballot, *, as_json: bool) -> int:
    """Approve the skill with this digest, for each question about it. Without any, ask the questions first."""
    with _approvals(of) as approvals:
        asked = _about(wanted, approvals)
        if not asked:
            approvals.add(_question(wanted))
            asked = _about(wanted, approvals)
        waiting = [one for one in asked if one.state != "approved"] or asked
        answered = [_voted(approvals, approvals.get(one.id), ballot, "once") for one in waiting]
    rows = [_row(one, of) for one in answered if one is not None]
    if not rows:
        output.note("nothing was approved")
        return exit_codes.FAILED
    if as_json:
        output.document({**next((row for row in rows if row["state"] != "approved"), rows[0]), "approvals": rows})
    else:
        for one in answered:
            if one is not None:
                output.line(_told(one))
    return exit_codes.OK


@contextmanager
def _approvals(of: OrganisationOptions) -> Iterator[RemoteApprovals]:
    with opened_organisation(of, "approve") as organisation:
        yield _remote(organisation)


def _remote(organisation: LocalOrganisation | RemoteOrganisation) -> RemoteApprovals:
    # Imported here because the types of the services import SQLAlchemy.
    from prowess.distribution.organisation_server.client import RemoteOrganisation

    assert isinstance(organisation, RemoteOrganisation)  # noqa: S101 -- these functions are for --server alone
    return organisation.approvals


def _question(wanted: WantedApproval) -> NewApproval:
    from prowess.governance.service.approval_items import NewApproval  # Imported here because SQLAlchemy takes long.

    return NewApproval(skill=wanted.skill, digest=wanted.digest, capabilities=wanted.capabilities, to_vote=True)


def _about(wanted: WantedApproval, approvals: RemoteApprovals) -> list[ApprovalItem]:
    of_bytes = (one for one in _all(approvals) if one.digest == wanted.digest)
    return [one for one in of_bytes if normalise(one.skill or "") == wanted.skill]


def _all(approvals: RemoteApprovals) -> Iterator[ApprovalItem]:
    from prowess.governance.service.approval_items import ApprovalQuery  # Imported here because SQLAlchemy takes long.
    from prowess.governance.service.listing import every_item  # as above

    return every_item(approvals.list, ApprovalQuery())


def _voted(approvals: RemoteApprovals, found: ApprovalItem, ballot: Ballot, scope: Scope) -> ApprovalItem | None:
    """Return the question after the vote, None if a person at a terminal did not confirm it."""
    from prowess.governance.service.approval_items import NewVote  # Imported here because SQLAlchemy takes long.

    if ballot.key is not None:
        raise click.UsageError("--server excludes --key: the server vouches for who votes")
    output.note(printable(found.text or ""))
    if output.is_interactive() and not click.confirm(f"{ballot.vote.capitalize()} exactly this?", err=True):
        return None
    vote: Literal["approve", "refuse"] = "refuse" if ballot.vote == "refuse" else "approve"
    new = NewVote(
        vote=vote, reason=ballot.reason, digest=found.digest, role=ballot.role, until=ballot.until, scope=scope
    )
    return approvals.vote(found.id, new)


def _answered(found: ApprovalItem | None, of: OrganisationOptions, *, as_json: bool) -> int:
    if found is None:
        output.note("nothing was written")
        return exit_codes.FAILED
    if as_json:
        output.document(_row(found, of))
    else:
        output.line(_told(found))
    return exit_codes.OK


def _row(found: ApprovalItem, of: OrganisationOptions) -> dict[str, object]:
    values = to_builtins(found)
    if found.kind == "call":
        return {name: values[name] for name in _OF_CALL}
    return {**{name: values[name] for name in _OF_SKILL}, "location": None, "place": of.server_url}


def _told(found: ApprovalItem) -> str:
    if found.kind == "call":
        by = {"approved": f"is approved by {', '.join(found.by)}; send it again", "refused": "is refused"}
        told = by.get(found.state, f"waits for a person: {found.reason}")
        return printable_line(f"a call of {found.tool} {told}; {found.id}")
    name, count = found.skill, f"{found.given} of {found.needed}"
    if found.refused_by is not None:
        return printable_line(f"{name} is refused by {found.refused_by} ({found.origin}); {found.id}")
    if found.state == "approved":
        return printable_line(f"{name} is approved for {found.rule} ({count}); running sessions can use it at once")
    left = found.needed - found.given
    people = "person" if left == 1 else "people"
    return printable_line(f"{name} waits for {left} more {people} ({count}, {found.origin}); {found.id}")


def _line(vote: GivenVote) -> str:
    parts = [f"{vote.at:%Y-%m-%d %H:%M} {vote.vote} by {vote.user} as {vote.role}"]
    parts += [f"until {vote.until:%Y-%m-%d}"] if vote.until is not None else []
    parts += [] if vote.counts else ["does not count"]
    return printable_line("; ".join([*parts, *([vote.reason] if vote.reason else [])]))
