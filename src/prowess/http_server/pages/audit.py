"""Pages of the audit log: search by every field, one record with its proof, and exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from starlette.exceptions import HTTPException

from prowess.audit.selection import OUTCOMES
from prowess.errors import AuditReadError
from prowess.governance.service.audit import AuditQuery, AuditSelection, AuditService
from prowess.http_server.log_download import log_download
from prowess.http_server.pages.record_view import facts_of, record_row

if TYPE_CHECKING:
    from starlette.responses import Response

    from prowess.http_server.pages.rendering.page_request import PageRequest

FILTERS = AuditSelection.__struct_fields__
_FIRST = ("skill", "user", "kind", "outcome", "since", "until")
_MORE = tuple(name for name in FILTERS if name not in _FIRST)
_OPTIONS = (("", "any"), *((one, one) for one in OUTCOMES))
_LIMIT = 100


def audit_page(page: PageRequest) -> Response:
    """Show the records that match, the newest first."""
    chosen = page.queries(FILTERS)
    values = {**several(chosen), "order": "newest", "limit": _LIMIT, "cursor": page.query("cursor")}
    service = AuditService(page.call)
    found = service.list(msgspec.convert(values, AuditQuery))
    try:
        state = service.checkpoint()
    except AuditReadError:  # no record has a place yet
        state = None
    return page.render(
        "audit.html",
        chosen=chosen,
        first_fields=_FIRST,
        more_fields=_MORE,
        outcome_options=_OPTIONS,
        rows=tuple(map(record_row, found.items)),
        next=found.next,
        first=page.query("cursor") is not None,
        state=state,
    )


def record_page(page: PageRequest) -> Response:
    """Show one record with every fact, and the proof that it is in the log."""
    text = page.path_part("number")
    if not text.isdecimal() or len(text) > len(str(2**63)):
        raise HTTPException(404, "There is no such record.")
    proof = AuditService(page.call).get(int(text))
    record = proof.record
    return page.render(
        "record.html",
        number=int(text),
        proof=proof,
        proof_json=msgspec.json.format(msgspec.json.encode(proof)).decode(),
        record=record,
        facts=() if record is None else facts_of(record),
    )


def export_download(page: PageRequest) -> Response:
    """Return an export of the records that match, which `prowess audit verify --export` checks."""
    selection = msgspec.convert(several(page.queries(FILTERS)), AuditSelection)
    return log_download(AuditService(page.call).export(selection))


def several(chosen: dict[str, str]) -> dict[str, object]:
    """Return the criteria of a selection. Of an unknown kind of value, msgspec tells."""
    return {name: value if name in {"since", "until"} else (value,) for name, value in chosen.items()}
