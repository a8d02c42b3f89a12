"""Approval requests, answers, and the memory that avoids asking the same question twice.

Two requests have the same id if the tool, the arguments, the session and the content of the active skills are equal.
Any change to a skill therefore makes a new request. Approvals for the session and refusals are remembered; an approval
for one call is consumed by that call.

An approver is any object with a method `approve`. The approvers that come with Prowess are in `prowess.tools.gates`:
they wait for a person, and the package `prowess.policy` never waits.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from prowess._internal.text.canonical_json import canonical_json, sha256_of
from prowess.policy.tool_names import canonical_tool_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Scope = Literal["once", "session"]

_MOST_REQUESTS = 256  # limit on unanswered requests; the oldest are dropped and asked again
_DIGITS = 32  # hexadecimal digits of the digest: 128 bits, too many to find two calls with the same id


class ApprovalRequest(Struct, frozen=True, kw_only=True):
    """A question to a person: may this call run? `skills` are digests of active skills; `reason` names the rule."""

    tool: str
    arguments: Mapping[str, object]
    reason: str
    skills: tuple[str, ...] = ()
    session_id: str | None = None

    @property
    def id(self) -> str:
        """Digest of the tool, the arguments, the active skills and the session. Any change gives a new id."""
        asked = {**self._call, "skills": sorted(self.skills), "session": self.session_id}
        return f"ask-{sha256_of(canonical_json(asked)).removeprefix('sha256:')[:_DIGITS]}"

    @property
    def call_digest(self) -> str:
        """Digest of only the tool and the arguments. It does not depend on the active skills or the session."""
        return sha256_of(canonical_json(self._call))

    @property
    def _call(self) -> dict[str, object]:
        return {"tool": canonical_tool_name(self.tool), "arguments": self.arguments}


class Approval(Struct, frozen=True, kw_only=True):
    """An approval for one call, or for equal calls until the session ends. `by` names the approver.

    If it is `revocable`, the approver keeps it: the session does not remember it, and asks again at each call.
    """

    scope: Scope = "once"
    by: str | None = None
    revocable: bool = False


class Refusal(Struct, frozen=True, kw_only=True):
    """A refusal, valid until the session ends. `by` names the person; `revocable` as in `Approval`."""

    reason: str = "a person refused it"
    by: str | None = None
    revocable: bool = False


class Unanswered(Struct, frozen=True, kw_only=True):
    """There is no answer, because no person could be asked.

    The call is refused. It may be sent again after a person has approved the request. `instead` is one sentence of
    advice for the caller, for the case that no person can be asked later.
    """

    instead: str | None = None


Answer = Approval | Refusal | Unanswered


class Approver(Protocol):
    """Asks a person about a call. The call is refused if `approve` raises an exception."""

    async def approve(self, request: ApprovalRequest) -> Answer:
        """Return the person's answer."""


class ApprovalMemory:
    """The answers of one session. Safe to use from several threads.

    A forked session starts with the refusals of its parent and without its approvals: pass the result of `refusals` to
    `inherit`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._refused: dict[str, Refusal] = {}  # by call digest
        self._inherited: dict[str, Refusal] = {}  # by call digest, from the parent
        self._answers: dict[str, Approval | Refusal] = {}
        self._open: OrderedDict[str, ApprovalRequest] = OrderedDict()

    def ask(self, request: ApprovalRequest) -> Approval | Refusal | None:
        """Return the remembered answer, or None if a person must be asked.

        An approval for one call is consumed. A refusal inherited from the parent session applies to every call with the
        same tool and arguments.
        """
        with self._lock:
            answer = self._answers.get(request.id)
            if answer is None:
                return self._inherited.get(request.call_digest) if self._inherited else None
            if isinstance(answer, Approval) and answer.scope == "once":
                del self._answers[request.id]
                self._open.pop(request.id, None)
            return answer

    def refusals(self) -> Mapping[str, Refusal]:
        """Return the refusals of this session and its parent, by call digest."""
        with self._lock:
            return {**self._inherited, **self._refused}

    def inherit(self, refusals: Mapping[str, Refusal]) -> None:
        """Start with the refusals of the parent session."""
        with self._lock:
            self._inherited = dict(refusals)

    def answered(self, request: ApprovalRequest, answer: Approval | Refusal) -> None:
        """Remember the answer to a waiting call.

        An approval for one call is not stored, because the waiting call uses it. A revocable answer is not stored
        either, but forked sessions inherit a revocable refusal.
        """
        with self._lock:
            self._open.pop(request.id, None)
            self._forget_revocable(request)
            if isinstance(answer, Refusal):
                self._refused[request.call_digest] = answer
            if not answer.revocable and (isinstance(answer, Refusal) or answer.scope == "session"):
                self._keep(request, answer)

    def unanswered(self, request: ApprovalRequest) -> None:
        """Remember an unanswered request, so that `settle` can answer it later."""
        with self._lock:
            self._forget_revocable(request)
            self._open[request.id] = request
            self._open.move_to_end(request.id)
            while len(self._open) > _MOST_REQUESTS:
                self._open.popitem(last=False)

    def settle(self, request_id: str, answer: Approval | Refusal) -> ApprovalRequest | None:
        """Answer the request with this id and return it; None if unknown. An earlier answer may be replaced."""
        with self._lock:
            request = self._open.get(request_id)
            if request is not None:
                self._keep(request, answer)
            return request

    def _forget_revocable(self, request: ApprovalRequest) -> None:
        """Forget a refusal that its approver keeps: the approver has just been asked again."""
        before = self._refused.get(request.call_digest)
        if before is not None and before.revocable:
            del self._refused[request.call_digest]

    def _keep(self, request: ApprovalRequest, answer: Approval | Refusal) -> None:
        self._answers[request.id] = answer
        if isinstance(answer, Refusal):
            self._refused[request.call_digest] = answer
        else:
            self._refused.pop(request.call_digest, None)

    @property
    def waiting(self) -> Sequence[ApprovalRequest]:
        """Open requests without an answer, oldest first."""
        with self._lock:
            return tuple(request for key, request in self._open.items() if key not in self._answers)
