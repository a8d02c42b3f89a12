"""Formats of the Model Context Protocol, revision 2025-06-18: `tools/list` entries and `tools/call` results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.uuid7 import uuid7
from prowess.tools.prompt_escaping import encodable
from prowess.tools.shapes.blocks import call_of, image_of, member, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.tools.result import ToolResult
    from prowess.tools.spec import ToolCall, ToolSpec

ERROR_KEY = "prowess/error"  # key in `_meta` of a failed result: code, message, suggestions


def definitions(specs: Sequence[ToolSpec], *, strict: bool = False) -> list[dict[str, object]]:
    """Return the entries of `tools/list`. `strict` has no effect."""
    del strict
    return [tool(spec) for spec in specs]


def read_call(block: object, specs: Sequence[ToolSpec] = ()) -> ToolCall:
    """Return the call from the parameters of `tools/call`. Its id is new, because MCP has ids for requests only."""
    return call_of(uuid7(), member(block, "name"), member(block, "arguments"), specs)


def result_message(result: ToolResult, call: ToolCall) -> dict[str, object]:
    """Return the result of `tools/call`."""
    del call
    return call_result(result)


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

    A success has `structuredContent` and a text content. The text is `text` if given, otherwise the same data as JSON.
    An image is in a separate block. A failure has the message as text and the details in `_meta`, because structured
    content would have to fit the output schema.
    """
    if result.success:
        value: Mapping[str, object] = result.result or {}
        content = [_text(text if text is not None else text_of(result))]
        if (image := image_of(result)) is not None:
            content.append({"type": "image", "data": image.data, "mimeType": image.media_type})
        return {"content": content, "structuredContent": encodable(value), "isError": False}
    detail = dict(result.error_detail or {})
    return {"content": [_text(result.error or "")], "isError": True, "_meta": {ERROR_KEY: encodable(detail)}}


def _text(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}
