"""Formats of OpenAI Chat Completions: `tools`, `tool_calls` and messages with role `tool`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.tools.shapes.blocks import call_of, image_of, member, text_of
from prowess.tools.shapes.strict_schema import strict_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.tools.result import ToolResult
    from prowess.tools.spec import ToolCall, ToolSpec

_NO_IMAGE = "the image, if available, is in a user message: results of this API are text only"


def function(spec: ToolSpec, *, strict: bool) -> dict[str, object]:
    """Return name, description, parameters and strict. A schema without a strict form is returned unchanged."""
    parameters = strict_schema(spec.input_schema) if strict else None
    return {
        "name": spec.wire_name,
        "description": spec.description,
        "parameters": dict(spec.input_schema) if parameters is None else parameters,
        "strict": parameters is not None,
    }


def definitions(specs: Sequence[ToolSpec], *, strict: bool = False) -> list[dict[str, object]]:
    """Return the `tools` of a request."""
    return [{"type": "function", "function": function(spec, strict=strict)} for spec in specs]


def read_call(block: object, specs: Sequence[ToolSpec] = ()) -> ToolCall:
    """Return the call of an element of `tool_calls`."""
    called = member(block, "function")
    return call_of(member(block, "id"), member(called, "name"), member(called, "arguments"), specs)


def result_message(result: ToolResult, call: ToolCall) -> dict[str, object]:
    """Return the message with role `tool`. A failure begins with `Error:`, because the API has no flag for it."""
    return {"role": "tool", "tool_call_id": call.id, "content": result_text(result, instead_of_image=_NO_IMAGE)}


def image_message(result: ToolResult) -> dict[str, object] | None:
    """Return a user message with the image of a result, or None. Send it after the answers to all calls."""
    image = image_of(result)
    if image is None:
        return None
    return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": image.url}}]}


def result_text(result: ToolResult, *, instead_of_image: str | None = None) -> str:
    """Return a result as text. A failure begins with `Error:`."""
    text = text_of(result, instead_of_image=instead_of_image)
    return text if result.success else f"Error: {text}"
