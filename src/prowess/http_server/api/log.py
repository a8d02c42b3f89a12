"""Routes about the audit log: records, proofs, exports, and reports over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from prowess.distribution.deployment.store_releases import deployed_names
from prowess.governance.service.analytics import AnalyticsService, UsageQuery
from prowess.governance.service.audit import (
    AuditPage,
    AuditQuery,
    AuditSelection,
    AuditService,
    ConsistencyProof,
    LogState,
    ProofOfRecord,
)
from prowess.governance.service.listing import NoSuchItemError
from prowess.governance.usage import UsageReport
from prowess.http_server.api.route_table import ApiRequest, ApiRoute
from prowess.http_server.log_download import JSON_LINES, log_download
from prowess.store.shared.audit_rows import SharedAuditRows

if TYPE_CHECKING:
    from starlette.responses import Response

_Number = Annotated[int, Meta(ge=0, le=2**53)]


class ProofQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The number of a record, counted from 1."""

    record: Annotated[int, Meta(ge=1, le=2**53)]


class ConsistencyQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The sizes of an earlier log and of a later one, by default the present one."""

    old: _Number
    new: _Number | None = None


def _log(asked: ApiRequest) -> AuditService:
    if SharedAuditRows(asked.call.database).end() is None:
        raise NoSuchItemError("signed checkpoint of tenant", asked.call.tenant)
    return AuditService(asked.call)


def _export(asked: ApiRequest) -> Response:
    return log_download(_log(asked).export(asked.query))


LOG_ROUTES = (
    ApiRoute(
        method="GET",
        path="/audit",
        name="list_records",
        summary="Records that have a place in the log",
        needs="audit",
        handle=lambda asked: AuditService(asked.call).list(asked.query),
        query=AuditQuery,
        answer=AuditPage,
    ),
    ApiRoute(
        method="GET",
        path="/audit/checkpoint",
        name="checkpoint",
        summary="The last signed checkpoint",
        needs="audit",
        handle=lambda asked: _log(asked).checkpoint(),
        answer=LogState,
    ),
    ApiRoute(
        method="GET",
        path="/audit/proof",
        name="proof",
        summary="A record, and the proof of its place",
        needs="audit",
        handle=lambda asked: _log(asked).get(asked.query.record),
        query=ProofQuery,
        answer=ProofOfRecord,
    ),
    ApiRoute(
        method="GET",
        path="/audit/consistency",
        name="consistency",
        summary="The proof that an earlier log was continued",
        needs="audit",
        handle=lambda asked: _log(asked).consistency(asked.query.old, asked.query.new),
        query=ConsistencyQuery,
        answer=ConsistencyProof,
    ),
    ApiRoute(
        method="GET",
        path="/audit/export",
        name="export",
        summary="An export that `prowess audit verify --export` checks",
        needs="audit",
        handle=_export,
        query=AuditSelection,
        media=JSON_LINES,
    ),
    ApiRoute(
        method="GET",
        path="/analytics",
        name="analytics",
        summary="How skills are used",
        needs="audit",
        handle=lambda asked: AnalyticsService(asked.call, deployed_names(asked.call.database)).report(asked.query),
        query=UsageQuery,
        answer=UsageReport,
    ),
)
