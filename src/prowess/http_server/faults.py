"""Errors of the interface: `{"error": {"code", "message", "suggestions"}}`, with the closed codes of `errors`.

The status of an error follows from its class. Of an error that is no `SkillError`, nothing is shown.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.responses import Response

from prowess.errors import (
    ApprovalRequiredError,
    AuditError,
    DigestChangedError,
    DistributionError,
    LimitExceededError,
    MissingExtraError,
    PolicyDeniedError,
    SkillConflictError,
    SkillError,
    StoreError,
    UnavailableError,
)
from prowess.governance.approving import VoteRefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.governance.service.service_call import Actor

_log = logging.getLogger(__name__)
_RETRY_SECONDS = 2
_CODES = {
    401: "policy_denied",
    403: "policy_denied",
    404: "resource_not_found",
    413: "limit_exceeded",
    429: "limit_exceeded",
}
# The first class that fits decides. What is left is the caller's: 404 if it is a LookupError, otherwise 400.
_STATUSES: tuple[tuple[type[SkillError], int], ...] = (
    (StoreError, 503),
    (AuditError, 503),
    (UnavailableError, 503),
    (MissingExtraError, 503),
    (PolicyDeniedError, 403),
    (ApprovalRequiredError, 403),
    (VoteRefusedError, 409),
    (SkillConflictError, 409),
    (DigestChangedError, 409),
    (LimitExceededError, 413),
    (DistributionError, 409),
)


class ApiError(Struct, frozen=True, kw_only=True):
    """An error. `code` is one of a closed list; `suggestions` are existing names close to the one that was given."""

    code: str
    message: str
    suggestions: tuple[str, ...] = ()


class ApiErrorDocument(Struct, frozen=True, kw_only=True):
    """The body of an answer with a status from 400."""

    error: ApiError


def status_of(fault: Exception) -> int:
    """Return the status of an error."""
    if isinstance(fault, HTTPException):
        return fault.status_code
    if not isinstance(fault, SkillError):
        return 500
    found = next((status for kind, status in _STATUSES if isinstance(fault, kind)), None)
    if found is not None:
        return found
    if isinstance(fault, LookupError):
        return 404
    return 500 if fault.code == "internal" else 400


def sentence_of(fault: SkillError, actor: Actor | None) -> str:
    """Return the sentence that a client gets. What names the store is logged, and shown to administrators alone."""
    if not isinstance(fault, StoreError | AuditError):
        return str(fault)
    _log.error("%s", fault)
    if actor is not None and actor.may("administer"):
        return str(fault)
    return f"the {'store' if isinstance(fault, StoreError) else 'audit log'} cannot be used now; try again"


def error_response(fault: Exception, actor: Actor | None = None) -> Response:
    """Return the answer for an error to `actor`. An unexpected one is logged, and not shown."""
    status = status_of(fault)
    if isinstance(fault, HTTPException):
        return error_answer(status, fault.detail, headers=fault.headers)
    if isinstance(fault, SkillError):
        headers = {"retry-after": str(_RETRY_SECONDS)} if status == 503 else {}  # noqa: PLR2004 -- the status
        return error_answer(
            status, sentence_of(fault, actor), code=fault.code, suggestions=fault.suggestions, headers=headers
        )
    _log.error("request failed", exc_info=fault)
    return error_answer(status, "the server failed; its log has the reason")


def error_answer(
    status: int,
    message: str,
    *,
    code: str | None = None,
    suggestions: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an answer with an error."""
    body = error_bytes(status, message, code=code, suggestions=suggestions)
    return Response(body, status, media_type="application/json", headers=headers)


def error_bytes(status: int, message: str, *, code: str | None = None, suggestions: Sequence[str] = ()) -> bytes:
    """Return the body of an error."""
    known = code or _CODES.get(status, "internal" if status >= 500 else "invalid_request")  # noqa: PLR2004 -- statuses
    document = ApiErrorDocument(error=ApiError(code=known, message=message, suggestions=tuple(suggestions)))
    return msgspec.json.encode(document)
