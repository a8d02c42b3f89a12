"""The answer that sends an export of the audit log, for the interface and the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import StreamingResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from starlette.responses import Response

    from prowess.audit.transparency.central_log import LogExport

JSON_LINES = "application/jsonl"
_CHUNK_BYTES = 64 * 1024


def log_download(export: LogExport) -> Response:
    """Return an export as a download, sent as its lines are read."""
    headers = {"content-disposition": 'attachment; filename="audit.jsonl"'}
    return StreamingResponse(_chunks(export.all_lines()), media_type=JSON_LINES, headers=headers)


def _chunks(lines: Iterable[bytes]) -> Iterator[bytes]:
    """A chunk costs a change of threads, so lines are sent together."""
    chunk = bytearray()
    for line in lines:
        chunk += line
        if len(chunk) >= _CHUNK_BYTES:
            yield bytes(chunk)
            chunk.clear()
    yield bytes(chunk)
