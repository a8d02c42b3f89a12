"""Requests of single calls that wait for a person, with the answers: as files in the user's home, or in a store.

    approver = RequestFiles()          # of a session: `Session(approver=approver)`
    vote_on_call(approver, approver.get(request_id), "approve", voter, reason="", scope="once", recorder=LocalActs(log))

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
from prowess.governance.approving import VoteRefusedError
from prowess.policy.approval import Approval, ApprovalRequest, Refusal, Scope, Unanswered

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.governance.acts import ActRecorder
    from prowess.policy.approval import Answer
    from prowess.policy.approvals.matching import ApprovalState
    from prowess.policy.approvals.statements import Vote, Voter

CALL_PREFIX = "ask-"  # beginning of the ids
_FOLDER = "call-requests"
_ID = re.compile(r"ask-[0-9a-f]{32}")
SECONDS_KEPT = 7 * 86400
_MOST = 1000


class CallRequest(Struct, frozen=True, kw_only=True):
    """One request, and its answer: `approve`, `refuse`, or None while it waits.

    `at` is when it was asked first, in seconds since the epoch.
    """

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

    @property
    def state(self) -> ApprovalState:
        """Whether the request waits, or how it was answered."""
        return "waiting" if self.vote is None else "approved" if self.vote == "approve" else "refused"

    def as_request(self) -> ApprovalRequest:
        """Return the request as approvers see it."""
        return ApprovalRequest(
            tool=self.tool,
            arguments=self.arguments,
            reason=self.reason,
            skills=self.skills,
            session_id=self.session,
        )


class CallRequests:
    """Requests of sessions, and their answers. An `Approver`, which is asked at each call: an answer can be revoked.

    Where they are kept is decided by a subclass: `RequestFiles`, or `SharedCallRequests` in a store.
    """

    advice = ""  # of the command with which a person answers

    async def approve(self, request: ApprovalRequest) -> Answer:
        """Return the answer if a person has given one. Otherwise keep the request, and return `Unanswered`."""
        return await to_thread.run_sync(self._approve, request)

    def _approve(self, request: ApprovalRequest) -> Answer:
        found: list[CallRequest] = []

        def used(before: CallRequest | None) -> CallRequest | None:
            found[:] = [] if before is None or before.vote is None else [before]
            if not found:
                return _kept(request, time.time() if before is None else before.at)
            return None if found[0].scope == "once" else found[0]

        try:
            self._change(request.id, used)
        except StoreError:
            return Unanswered()  # the host can still answer by `Session.approve`
        if not found:
            return Unanswered(
                instead=f"Run `prowess approvals vote {request.id}{self.advice}`, then send the call again."
            )
        (answered,) = found
        if answered.vote == "approve":
            return Approval(scope=answered.scope, by=answered.by, revocable=True)
        return Refusal(by=answered.by, reason=answered.why or "a person refused it", revocable=True)

    def all(self) -> list[CallRequest]:
        """Return every request, the oldest first. Raises StoreError."""
        raise NotImplementedError

    def get(self, request_id: str) -> CallRequest:
        """Return a request. Raises InvalidArgumentsError if there is none with this id, and StoreError."""
        found = next((one for one in self.all() if one.id == request_id), None)
        if found is None:
            reason = f"no call waits with the request {request_id[:80]!r}; `prowess approvals list` shows all requests"
            raise InvalidArgumentsError((reason,))
        return found

    def withdraw(self, request_id: str) -> None:
        """Remove a request, because its call was answered otherwise. Raises StoreError."""
        self._change(request_id, lambda _: None)

    def answer(self, answered: CallRequest) -> None:
        """Keep a request with its answer. The session finds it when the call is sent again.

        Raises:
            VoteRefusedError: the answer before was used meanwhile, or somebody has refused the call.
            StoreError: the answer cannot be written.
        """

        def with_answer(now: CallRequest | None) -> CallRequest:
            if now is None:
                raise VoteRefusedError("the call does not wait any more: its answer was used, or it is too old")
            if answered.vote is not None and now.vote == "refuse":
                again = f"`prowess approvals revoke {now.id}{self.advice}`"
                raise VoteRefusedError(f"{now.by} has refused the call; to ask again, run {again}")
            return answered

        self._change(answered.id, with_answer)

    def _change(self, request_id: str, change: Callable[[CallRequest | None], CallRequest | None]) -> None:
        """Replace a request by the result of `change`, with nothing in between; None removes it. Raises StoreError."""
        raise NotImplementedError


class RequestFiles(CallRequests):
    """The requests of this user's sessions, in the user's home."""

    def __init__(self) -> None:
        self._directory = os.path.join(prowess_home(), _FOLDER)

    def all(self) -> list[CallRequest]:
        """Return every request, the oldest first. Raises StoreError."""
        try:
            names = os.listdir(self._directory) if os.path.isdir(self._directory) else []
        except OSError as fault:
            raise StoreError(self._directory, fault.strerror or str(fault)) from None
        found = [one for name in names if (one := self._read(name.removesuffix(".json"))) is not None]
        return sorted(found, key=lambda one: (one.at, one.id))

    def _change(self, request_id: str, change: Callable[[CallRequest | None], CallRequest | None]) -> None:
        try:
            ensure_private_directory(self._directory)
            with locked(os.path.join(self._directory, ".lock")):
                before = self._read(request_id)
                after = change(before)
                if after is None:
                    with suppress(FileNotFoundError):
                        os.unlink(self._path(request_id))
                elif after != before:
                    self._write(after)
        except OSError as fault:
            raise StoreError(self._directory, fault.strerror or str(fault)) from None

    def _path(self, request_id: str) -> str:
        return os.path.join(self._directory, f"{request_id}.json")

    def _read(self, request_id: str) -> CallRequest | None:
        if _ID.fullmatch(request_id) is None:
            return None
        try:
            with open(self._path(request_id), "rb") as file:
                return request_of(file.read(), request_id)
        except OSError:
            return None

    def _write(self, request: CallRequest) -> None:
        self._prune()
        write_atomically(self._path(request.id), encode(request))

    def _prune(self) -> None:
        """Remove files that are too old, or too many."""
        paths = [os.path.join(self._directory, name) for name in os.listdir(self._directory) if name.endswith(".json")]
        with suppress(OSError):
            dated = sorted((os.stat(path).st_mtime, path) for path in paths)
            old = [path for at, path in dated if at < time.time() - SECONDS_KEPT]
            for path in dict.fromkeys((*old, *(path for _, path in dated[:-_MOST]))):
                os.unlink(path)


def request_of(body: bytes, request_id: str) -> CallRequest | None:
    """Return the request in these bytes; None if it is damaged, too old, or another one.

    The id is a digest of the call, so a person is never shown another call than the one that is answered.
    """
    try:
        found = decode(body, type=CallRequest)
    except (DecodeError, UnicodeDecodeError):
        return None
    return found if found.as_request().id == request_id and found.at > time.time() - SECONDS_KEPT else None


def _kept(request: ApprovalRequest, at: float) -> CallRequest:
    return CallRequest(
        id=request.id,
        tool=request.tool,
        arguments=dict(request.arguments),
        reason=request.reason,
        skills=tuple(request.skills),
        session=request.session_id,
        at=at,
    )


def vote_on_call(
    requests: CallRequests,
    request: CallRequest,
    vote: Vote,
    voter: Voter,
    *,
    reason: str,
    scope: Scope,
    recorder: ActRecorder,
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
    with recorder.act("vote", facts):
        requests.answer(answered)
    return answered
