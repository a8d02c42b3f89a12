"""`prowess approve` and `approvals` with `--server`: questions and votes in the store of an organisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

import click

from prowess.cli.approvals.shown import ShownApproval
from prowess.cli.options.organisation_options import note_tenant, opened_organisation
from prowess.format.name import normalise
from prowess.governance.service.approval_items import ApprovalQuery, NewApproval, NewVote
from prowess.governance.service.listing import every_item

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from prowess.cli.options.organisation_options import OrganisationOptions
    from prowess.distribution.organisation_server.client import RemoteOrganisation
    from prowess.governance.approving import Ballot
    from prowess.governance.service.approval_items import ApprovalItem
    from prowess.policy.approval import Scope


class ServerVoting:
    """The questions of a tenant by the server, and the votes of the owner of a token: a `Voting`."""

    def __init__(self, of: OrganisationOptions) -> None:
        self._of = of

    def all(self) -> list[ShownApproval]:
        """Return all questions of the tenant."""
        with self._opened() as organisation:
            found = [self._shown(one) for one in every_item(organisation.approvals.list, ApprovalQuery())]
            if not found:
                note_tenant(organisation)
        return sorted(found, key=lambda one: one.item.kind != "skill")

    def get(self, request: str) -> ShownApproval:
        """Return one question with its text and every vote."""
        with self._opened() as organisation:
            return self._shown(organisation.approvals.get(request))

    def about(self, skill: str, digest: str, capabilities: tuple[str, ...] | None) -> list[ShownApproval]:
        """Return the questions about the skill with this digest. Without any, ask the questions first.

        `capabilities` are None if the files of the skill are not here.
        """
        with self._opened() as organisation:
            approvals, query = organisation.approvals, ApprovalQuery(digest=digest)

            def asked() -> Iterator[ApprovalItem]:
                return (one for one in every_item(approvals.list, query) if normalise(one.skill or "") == skill)

            if not (found := list(asked())):
                approvals.add(NewApproval(skill=skill, digest=digest, capabilities=capabilities, to_vote=True))
                found = list(asked())
            return [self._shown(approvals.get(one.id)) for one in found]

    def vote(self, asked: ShownApproval, ballot: Ballot, scope: Scope) -> ShownApproval:
        """Give a vote about exactly what was shown."""
        if ballot.key is not None:
            raise click.UsageError("--server excludes --key: the server vouches for who votes")
        vote: Literal["approve", "refuse"] = "refuse" if ballot.vote == "refuse" else "approve"
        new = NewVote(
            vote=vote,
            reason=ballot.reason,
            digest=asked.item.digest,
            role=ballot.role,
            until=ballot.until,
            scope=scope,
        )
        with self._opened() as organisation:
            return self._shown(organisation.approvals.vote(asked.item.id, new))

    def revoke(self, request: str, ballot: Ballot) -> ShownApproval:
        """Make every vote about a question void."""
        self._of.require_alone(key=ballot.key)
        with self._opened() as organisation:
            return self._shown(organisation.approvals.revoke(request, ballot.reason))

    def _opened(self) -> AbstractContextManager[RemoteOrganisation]:
        return cast("AbstractContextManager[RemoteOrganisation]", opened_organisation(self._of, "approve"))

    def _shown(self, item: ApprovalItem) -> ShownApproval:
        return ShownApproval(item=item, place=str(self._of.server_url))
