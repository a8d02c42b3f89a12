"""Asking a person: what is asked, what is answered, and what is remembered, so that nobody is asked twice.

A request is about the same bytes when tool, arguments and the content of the active skills are the same; its id says so
and is therefore the same too. What was answered for the whole session is not asked again, a refusal neither; an answer
for one call is used up by it. Any change to a skill makes another request of it.

An approver is anything with `approve`. The ones that come with Prowess are in `prowess.tools.gates`, because
they wait, and nothing here does.
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

_MOST_REQUESTS = 256  # that are remembered without an answer; older ones are forgotten and asked again
_DIGITS = 32  # of the digest: 128 bits, so that nobody finds two calls with one id


class ApprovalRequest(Struct, frozen=True, kw_only=True):
    """What a person is asked. `skills` are the digests of the active skills, `reason` says which rule asks."""

    tool: str
    arguments: Mapping[str, object]
    reason: str
    skills: tuple[str, ...] = ()
    session_id: str | None = None

    @property
    def id(self) -> str:
        """The same for the same bytes, and for nothing else."""
        asked = {**self._call, "skills": sorted(self.skills), "session": self.session_id}
        return f"ask-{sha256_of(canonical_json(asked)).removeprefix('sha256:')[:_DIGITS]}"

    @property
    def call_digest(self) -> str:
        """The same for the same tool and arguments, whatever is active and wherever it is asked."""
        return sha256_of(canonical_json(self._call))

    @property
    def _call(self) -> dict[str, object]:
        return {"tool": canonical_tool_name(self.tool), "arguments": self.arguments}


class Approval(Struct, frozen=True, kw_only=True):
    """Yes: for this one call, or for the same call as long as the session lives. `by` says who gave it."""

    scope: Scope = "once"
    by: str | None = None


class Refusal(Struct, frozen=True, kw_only=True):
    """No, for as long as the session lives."""

    reason: str = "a person refused it"
    by: str | None = None


class Unanswered(Struct, frozen=True, kw_only=True):
    """Nobody could be asked. The call is refused and may be sent again after somebody answered.

    `instead` says what to do where nobody can answer later either, as a whole sentence.
    """

    instead: str | None = None


Answer = Approval | Refusal | Unanswered


class Approver(Protocol):
    """Asks somebody. An exception counts as no answer that permits: the call is refused."""

    async def approve(self, request: ApprovalRequest) -> Answer:
        """Return what was answered."""


class ApprovalMemory:
    """The answers of one session. Safe to use from several threads.

    A fork begins with the refusals of its parent and with none of its approvals: `inherit` takes what `refusals` gives.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._refused: dict[str, Refusal] = {}  # by call
        self._inherited: dict[str, Refusal] = {}  # by call, from the parent
        self._answers: dict[str, Approval | Refusal] = {}
        self._open: OrderedDict[str, ApprovalRequest] = OrderedDict()

    def ask(self, request: ApprovalRequest) -> Approval | Refusal | None:
        """Return what is known about this request, using up an answer for one call; None where it must be asked."""
        with self._lock:
            answer = self._answers.get(request.id)
            if answer is None:
                return self._inherited.get(request.call_digest) if self._inherited else None
            if isinstance(answer, Approval) and answer.scope == "once":
                del self._answers[request.id]
            return answer

    def refusals(self) -> Mapping[str, Refusal]:
        """Return what was refused here and in the parent, by the digest of the call."""
        with self._lock:
            return {**self._inherited, **self._refused}

    def inherit(self, refusals: Mapping[str, Refusal]) -> None:
        """Begin with refusals of the session that this one was forked from."""
        with self._lock:
            self._inherited = dict(refusals)

    def answered(self, request: ApprovalRequest, answer: Approval | Refusal) -> None:
        """Remember an answer that was given to a call which is waiting; one for this call alone is used up already."""
        with self._lock:
            self._open.pop(request.id, None)
            if isinstance(answer, Refusal) or answer.scope == "session":
                self._keep(request, answer)

    def unanswered(self, request: ApprovalRequest) -> None:
        """Remember that this request waits for `settle`."""
        with self._lock:
            self._open[request.id] = request
            self._open.move_to_end(request.id)
            while len(self._open) > _MOST_REQUESTS:
                self._open.popitem(last=False)

    def settle(self, request_id: str, answer: Approval | Refusal) -> ApprovalRequest | None:
        """Answer a request of which only the id is known; return it, None where no such request waits.

        A refusal that was given before can be settled anew, because people change their minds.
        """
        with self._lock:
            request = self._open.get(request_id)
            if request is not None:
                self._keep(request, answer)
            return request

    def _keep(self, request: ApprovalRequest, answer: Approval | Refusal) -> None:
        self._answers[request.id] = answer
        if isinstance(answer, Refusal):
            self._refused[request.call_digest] = answer
        else:
            self._refused.pop(request.call_digest, None)

    @property
    def waiting(self) -> Sequence[ApprovalRequest]:
        """The requests that were made and not approved yet, oldest first."""
        with self._lock:
            return tuple(request for key, request in self._open.items() if key not in self._answers)
