"""The forms of the Model Context Protocol, revision 2025-06-18: `tools/list` entries and `tools/call` results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.tools.result import ToolResult
    from prowess.tools.spec import ToolSpec

ERROR_KEY = "prowess/error"  # in `_meta` of a failed result: code, message, suggestions


def tool(spec: ToolSpec) -> dict[str, object]:
    """Return the entry of `tools/list`, under the wire name."""
    shape: dict[str, object] = {
        "name": spec.wire_name,
        "description": spec.description,
        "inputSchema": dict(spec.input_schema),
    }
    if spec.title is not None:
        shape["title"] = spec.title
    if spec.output_schema is not None:
        shape["outputSchema"] = dict(spec.output_schema)
    shape["annotations"] = {
        "readOnlyHint": spec.read_only,
        "destructiveHint": spec.destructive,
        "idempotentHint": spec.idempotent,
        "openWorldHint": spec.open_world,
    }
    return shape


def call_result(result: ToolResult, text: str | None = None) -> dict[str, object]:
    """Return the result of `tools/call`.

    A success has `structuredContent` and the same as text, or `text` instead where a better reading of it exists. A
    failure has the sentence, and the error in `_meta`, because structured content would have to fit the output schema.
    """
    if result.success:
        value: Mapping[str, object] = result.result or {}
        shown = text if text is not None else json.dumps(value, ensure_ascii=False)
        return {"content": [_text(shown)], "structuredContent": dict(value), "isError": False}
    detail = dict(result.error_detail or {})
    return {"content": [_text(result.error or "")], "isError": True, "_meta": {ERROR_KEY: detail}}


def _text(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}
