"""Questions to people through the server of an organisation. Every method raises as `ServerConnection.get` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.governance.service.approval_items import ApprovalItem, ApprovalQuery, NewApproval, NewVote
from prowess.governance.service.listing import ListPage

if TYPE_CHECKING:
    from prowess.distribution.organisation_server.connection import ServerConnection


class _Reason(Struct):
    reason: str


class RemoteApprovals:
    """Questions and votes: `ApprovalService`."""

    def __init__(self, server: ServerConnection) -> None:
        self._server = server

    def list(self, query: ApprovalQuery) -> ListPage[ApprovalItem]:
        """Return questions, the oldest first."""
        return self._server.get(ListPage[ApprovalItem], "approvals", query=query)

    def get(self, wanted: str) -> ApprovalItem:
        """Return one question with what a person is shown, and every vote."""
        return self._server.get(ApprovalItem, "approvals", wanted)

    def add(self, new: NewApproval) -> ApprovalItem:
        """Ask people about a skill."""
        return self._server.send(ApprovalItem, "POST", "approvals", body=new)

    def vote(self, wanted: str, new: NewVote) -> ApprovalItem:
        """Give a vote."""
        return self._server.send(ApprovalItem, "POST", "approvals", wanted, "votes", body=new)

    def revoke(self, wanted: str, reason: str = "") -> ApprovalItem:
        """Make every vote about a question void."""
        return self._server.delete(ApprovalItem, "approvals", wanted, query=_Reason(reason))
