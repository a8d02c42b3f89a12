"""Approval by the user of an MCP client (elicitation), if the policy requires approval and the client supports it.

A client declares support by its capability `elicitation`. In protocol revisions with a handshake (all before
2026-07-28), the question goes over the open connection while the call waits. In 2026-07-28 the question is the result
of the call, and the client sends the call again with the answer. If a client does not support elicitation, the call
fails with `approval_required` and the id of the request.

A call is approved only by an accepted form. A call is not approved if the user declines or dismisses the question, or
if the client disconnects. The question shows the call with control characters escaped, as on a terminal.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread
from mcp import types
from mcp.shared.exceptions import MCPError
from msgspec import Struct
from msgspec.structs import replace

from prowess.errors import InvalidArgumentsError, StoreError
from prowess.governance.approving import VoteRefusedError
from prowess.policy import Approval, Refusal
from prowess.policy.approval import Unanswered
from prowess.tools.gates import question

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcp.server.context import ServerRequestContext

    from prowess.governance.call_requests import CallRequests
    from prowess.policy import ApprovalRequest
    from prowess.policy.approval import Answer
    from prowess.runtime import Session

SECONDS = 600.0  # long, because a person needs time and may be away
_MOST_ANSWERS = 16
_MODERN = "2026-07-28"
_REMEMBER = "remember"
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        _REMEMBER: {
            "type": "boolean",
            "title": "Do not ask again for exactly this call",
            "description": "Applies until the session ends.",
            "default": False,
        }
    },
}


class _Elicitation(Struct, frozen=True, kw_only=True):
    """State of one request: ids of questions just answered or dismissed (`put`), requests to ask next (`waiting`)."""

    context: ServerRequestContext[Any, Any]
    put: frozenset[str]
    waiting: dict[str, ApprovalRequest]


_current: ContextVar[_Elicitation | None] = ContextVar("prowess_mcp_request", default=None)


@contextmanager
def elicitation_from(
    context: ServerRequestContext[Any, Any], put: Iterable[str] = ()
) -> Iterator[dict[str, ApprovalRequest]]:
    """Context manager: calls in this block can ask the client of the request.

    The value of the `with` statement is a mapping of the requests that wait for an answer, by id. `put` are the ids of
    questions that came back with this request. A dismissed question is not asked again in the same client request.
    """
    waiting: dict[str, ApprovalRequest] = {}
    token = _current.set(_Elicitation(context=context, put=frozenset(put), waiting=waiting))
    try:
        yield waiting
    finally:
        _current.reset(token)


class ClientApprover:
    """An approver that asks the client of the current request.

    `shared` are the requests in the store of an organisation: a person may answer them instead, and an answer that the
    client gives to one process of a server is used by another.
    """

    def __init__(self, seconds: float = SECONDS, shared: CallRequests | None = None) -> None:
        self._seconds, self._shared = seconds, shared

    async def approve(self, request: ApprovalRequest) -> Answer:
        """Return the user's answer; `Unanswered` if the user has not answered yet or the client cannot ask."""
        if self._shared is None:
            return await self._asked(request)
        kept = await self._shared.approve(request)
        if not isinstance(kept, Unanswered):
            return kept
        answer = await self._asked(request)
        if isinstance(answer, Unanswered):
            found = _current.get()
            return answer if found is not None and _can_ask(found.context) else kept
        with suppress(StoreError):  # a request that stays is not used: the session remembers the answer
            await to_thread.run_sync(self._shared.withdraw, request.id)
        return answer

    async def _asked(self, request: ApprovalRequest) -> Answer:
        found = _current.get()
        if found is None or not _can_ask(found.context):
            return Unanswered()
        context = found.context
        if context.protocol_version >= _MODERN:
            if request.id not in found.put:
                found.waiting[request.id] = request
            return Unanswered()
        answer: types.ElicitResult | None = None
        try:
            with anyio.move_on_after(self._seconds):
                answer = await context.session.elicit_form(question(request), _SCHEMA, context.request_id)
        except MCPError:
            return Unanswered()
        return Unanswered() if answer is None else _answer(answer, context)


def questions(waiting: Mapping[str, ApprovalRequest]) -> types.InputRequiredResult:
    """Return the questions as the result of a call, for a client that sends the call again."""
    asked = {
        name: types.ElicitRequest(
            params=types.ElicitRequestFormParams(message=question(request), requested_schema=_SCHEMA)
        )
        for name, request in waiting.items()
    }
    return types.InputRequiredResult(input_requests=dict(asked))


async def settle(
    session: Session,
    responses: Mapping[str, Any] | None,
    context: ServerRequestContext[Any, Any],
    shared: CallRequests | None = None,
) -> None:
    """Apply the answers that came with a call. Answers to questions that this session did not ask are ignored.

    Another process may have asked for the same session. The question is then one of the `shared` requests.
    """
    for name, response in list((responses or {}).items())[:_MOST_ANSWERS]:
        if not isinstance(response, types.ElicitResult):
            continue
        answer = _answer(response, context)
        if isinstance(answer, Unanswered):
            continue
        try:
            session.approve(name, answer)
        except InvalidArgumentsError:
            if shared is not None:
                await to_thread.run_sync(_answer_elsewhere, shared, name, session.session_id, answer)


def _answer_elsewhere(shared: CallRequests, name: str, session_id: str, answer: Approval | Refusal) -> None:
    with suppress(InvalidArgumentsError, VoteRefusedError, StoreError):
        found = shared.get(name)
        if found.session != session_id:
            return
        if isinstance(answer, Approval):
            shared.answer(replace(found, vote="approve", scope=answer.scope, by=answer.by))
        else:
            shared.answer(replace(found, vote="refuse", scope="session", by=answer.by, why=answer.reason))


def _can_ask(context: ServerRequestContext[Any, Any]) -> bool:
    capabilities = context.session.client_capabilities
    ability = None if capabilities is None else capabilities.elicitation
    # Before the protocol had the modes `form` and `url`, an empty capability meant support for forms.
    return ability is not None and (ability.form is not None or ability.url is None)


def _answer(said: types.ElicitResult, context: ServerRequestContext[Any, Any]) -> Answer:
    params = context.session.client_params
    by = f"client:{'unknown' if params is None else params.client_info.name}"
    if said.action == "decline":
        return Refusal(by=by)
    if said.action != "accept":
        return Unanswered()
    return Approval(scope="session" if (said.content or {}).get(_REMEMBER) is True else "once", by=by)
