"""Formats of the Anthropic Messages API: `tools`, `tool_use` blocks and `tool_result` blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.tools.shapes.blocks import call_of, image_of, member, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.tools.result import ToolResult
    from prowess.tools.spec import ToolCall, ToolSpec


def definitions(specs: Sequence[ToolSpec], *, strict: bool = False) -> list[dict[str, object]]:
    """Return the `tools` of a request. `strict` has no effect: the executor checks every argument anyway."""
    del strict
    return [
        {"name": spec.wire_name, "description": spec.description, "input_schema": dict(spec.input_schema)}
        for spec in specs
    ]


def read_call(block: object, specs: Sequence[ToolSpec] = ()) -> ToolCall:
    """Return the call of a `tool_use` block."""
    return call_of(member(block, "id"), member(block, "name"), member(block, "input"), specs)


def result_block(result: ToolResult, tool_use_id: str) -> dict[str, object]:
    """Return the `tool_result` block. An image becomes a separate block inside it."""
    content: list[dict[str, object]] = [{"type": "text", "text": text_of(result)}]
    if (image := image_of(result)) is not None:
        source = {"type": "base64", "media_type": image.media_type, "data": image.data}
        content.append({"type": "image", "source": source})
    return {"type": "tool_result", "tool_use_id": tool_use_id, "content": content, "is_error": not result.success}


def result_message(result: ToolResult, call: ToolCall) -> dict[str, object]:
    """Return a user message with the result of one call. The API joins consecutive user messages."""
    return results_message([(result, call)])


def results_message(results: Iterable[tuple[ToolResult, ToolCall]]) -> dict[str, object]:
    """Return one user message with the results of all calls of an assistant's turn."""
    return {"role": "user", "content": [result_block(result, call.id) for result, call in results]}
