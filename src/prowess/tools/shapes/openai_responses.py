"""Formats of OpenAI Responses: flat `tools`, `function_call` items and `function_call_output` items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.tools.shapes.blocks import call_of, image_of, member
from prowess.tools.shapes.openai_chat import function, result_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.tools.result import ToolResult
    from prowess.tools.spec import ToolCall, ToolSpec


def definitions(specs: Sequence[ToolSpec], *, strict: bool = False) -> list[dict[str, object]]:
    """Return the `tools` of a request."""
    return [{"type": "function", **function(spec, strict=strict)} for spec in specs]


def read_call(block: object, specs: Sequence[ToolSpec] = ()) -> ToolCall:
    """Return the call of a `function_call` item."""
    return call_of(member(block, "call_id"), member(block, "name"), member(block, "arguments"), specs)


def result_message(result: ToolResult, call: ToolCall) -> dict[str, object]:
    """Return the `function_call_output` item: text, or text and an image."""
    text = result_text(result)
    output: object = text
    if (image := image_of(result)) is not None:
        output = [
            {"type": "input_text", "text": text},
            {"type": "input_image", "image_url": image.url, "detail": "auto"},
        ]
    return {"type": "function_call_output", "call_id": call.id, "output": output}
