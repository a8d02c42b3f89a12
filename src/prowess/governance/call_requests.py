"""Requests of single calls that wait for a person, as files in the user's home: beside them, the answers.

    approver = RequestFiles()          # of a session: `Session(approver=approver)`
    vote_on_call(files, files.get(request_id), "approve", voter, reason="", scope="once", audit=log)

A session without a person writes what it asks, and finds the answer when the call is sent again. The files contain the
arguments of the call, so that a person can judge it; they are private to the user, and go after a week.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from msgspec import DecodeError, Struct
from msgspec.json import decode, encode
from msgspec.structs import replace

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.file_lock import locked
from prowess._internal.places import ensure_private_directory, prowess_home
from prowess.errors import InvalidArgumentsError, StoreError
from prowess.governance.acts import act
from prowess.governance.approving import VoteRefusedError
from prowess.policy.approval import Approval, ApprovalRequest, Refusal, Scope, Unanswered

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from prowess.audit.record import AuditLog
    from prowess.policy.approval import Answer
    from prowess.policy.approvals.statements import Vote, Voter

_FOLDER = "call-requests"
_ID = re.compile(r"ask-[0-9a-f]{32}")
_WEEK = 7 * 86400
_MOST = 1000


class CallRequest(Struct, frozen=True, kw_only=True):
    """One request, and its answer: `approve`, `refuse`, or None while it waits. `at` is in seconds since the epoch."""

    id: str
    tool: str
    arguments: dict[str, Any]
    reason: str
    skills: tuple[str, ...] = ()
    session: str | None
    at: float
    vote: str | None = None
    scope: Scope = "once"
    by: str | None = None
    why: str = ""

    def as_request(self) -> ApprovalRequest:
        """Return the request as approvers see it."""
        return ApprovalRequest(
            tool=self.tool,
            arguments=self.arguments,
            reason=self.reason,
            skills=self.skills,
            session_id=self.session,
        )


class RequestFiles:
    """The requests of this user's sessions. An `Approver`, which is asked at each call: an answer can be revoked."""

    def __init__(self) -> None:
        self._directory = os.path.join(prowess_home(), _FOLDER)

    async def approve(self, request: ApprovalRequest) -> Answer:
        """Return the answer if a person has given one. Otherwise keep the request, and return `Unanswered`."""
        return await to_thread.run_sync(self._approve, request)

    def _approve(self, request: ApprovalRequest) -> Answer:
        try:
            with self._locked():
                found = self._read(request.id)
                if found is None or found.vote is None:
                    self._write(_kept(request))
                elif found.scope == "once":
                    os.unlink(self._path(found.id))
        except OSError:
            return Unanswered()  # the host can still answer by `Session.approve`
        if found is None or found.vote is None:
            return Unanswered(instead=f"Run `prowess approvals vote {request.id}`, then send the call again.")
        if found.vote == "approve":
            return Approval(scope=found.scope, by=found.by, revocable=True)
        return Refusal(by=found.by, reason=found.why or "a person refused it", revocable=True)

    def all(self) -> list[CallRequest]:
        """Return every request, the oldest first. Raises StoreError."""
        try:
            names = os.listdir(self._directory) if os.path.isdir(self._directory) else []
        except OSError as fault:
            raise StoreError(self._directory, fault.strerror or str(fault)) from None
        found = [one for name in names if (one := self._read(name.removesuffix(".json"))) is not None]
        return sorted(found, key=lambda one: (one.at, one.id))

    def get(self, request_id: str) -> CallRequest:
        """Return a request. Raises InvalidArgumentsError if there is none with this id."""
        if (found := self._read(request_id)) is None:
            reason = f"no call waits with the request {request_id[:80]!r}; `prowess approvals list` shows all requests"
            raise InvalidArgumentsError((reason,))
        return found

    def answer(self, answered: CallRequest) -> None:
        """Keep a request with its answer. The session finds it when the call is sent again.

        Raises:
            VoteRefusedError: the answer before was used meanwhile, or somebody has refused the call.
            StoreError: the answer cannot be written.
        """
        try:
            with self._locked():
                now = self._read(answered.id)
                if now is None:
                    raise VoteRefusedError("the call does not wait any more: its answer was used, or it is too old")
                if answered.vote is not None and now.vote == "refuse":
                    again = f"`prowess approvals revoke {now.id}`"
                    raise VoteRefusedError(f"{now.by} has refused the call; to ask again, run {again}")
                self._write(answered)
        except OSError as fault:
            raise StoreError(self._directory, fault.strerror or str(fault)) from None

    def _locked(self) -> AbstractContextManager[None]:
        ensure_private_directory(self._directory)
        return locked(os.path.join(self._directory, ".lock"))

    def _path(self, request_id: str) -> str:
        return os.path.join(self._directory, f"{request_id}.json")

    def _read(self, request_id: str) -> CallRequest | None:
        if _ID.fullmatch(request_id) is None:
            return None
        try:
            with open(self._path(request_id), "rb") as file:
                found = decode(file.read(), type=CallRequest)
        except (OSError, DecodeError, UnicodeDecodeError):
            return None
        # The id is a digest of the call, so a person is never shown another call than the one that is answered.
        return found if found.as_request().id == request_id and found.at > time.time() - _WEEK else None

    def _write(self, request: CallRequest) -> None:
        self._prune()
        write_atomically(self._path(request.id), encode(request))

    def _prune(self) -> None:
        """Remove files that are too old, or too many."""
        paths = [os.path.join(self._directory, name) for name in os.listdir(self._directory) if name.endswith(".json")]
        with suppress(OSError):
            dated = sorted((os.stat(path).st_mtime, path) for path in paths)
            old = [path for at, path in dated if at < time.time() - _WEEK]
            for path in dict.fromkeys((*old, *(path for _, path in dated[:-_MOST]))):
                os.unlink(path)


def _kept(request: ApprovalRequest) -> CallRequest:
    return CallRequest(
        id=request.id,
        tool=request.tool,
        arguments=dict(request.arguments),
        reason=request.reason,
        skills=tuple(request.skills),
        session=request.session_id,
        at=time.time(),
    )


def vote_on_call(
    files: RequestFiles,
    request: CallRequest,
    vote: Vote,
    voter: Voter,
    *,
    reason: str,
    scope: Scope,
    audit: AuditLog | None,
) -> CallRequest:
    """Answer a request, or take the answer back (`revoke`). Return the request with its answer.

    Raises:
        VoteRefusedError: the voter is a service, or as in `RequestFiles.answer`.
        AuditError: the vote cannot be recorded, so it was not written.
        StoreError: the answer cannot be written.
    """
    if voter.kind != "person" and vote != "revoke":
        raise VoteRefusedError(f"{voter.user} is a service account, and only people approve calls; log in as a person")
    given = None if vote == "revoke" else vote
    answered = replace(request, vote=given, scope=scope, by=voter.user if given else None, why=reason if given else "")
    facts = {"request": request.id, "tool": request.tool, "vote": vote, "by": voter.user, "scope": scope}
    with act(audit, "vote", facts):
        files.answer(answered)
    return answered
