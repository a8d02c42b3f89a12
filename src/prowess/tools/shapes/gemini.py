"""Formats of the Gemini API: `functionDeclarations`, `functionCall` and `functionResponse` parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.uuid7 import uuid7
from prowess.tools.prompt_escaping import encodable
from prowess.tools.shapes.blocks import call_of, image_of, member

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.tools.result import ToolResult
    from prowess.tools.spec import ToolCall, ToolSpec

_MADE_UP = "prowess-"  # prefix of the id of a call that came without an id


def definitions(specs: Sequence[ToolSpec], *, strict: bool = False) -> list[dict[str, object]]:
    """Return the `tools` of a request: one entry with all declarations. `strict` has no effect."""
    del strict
    declared = [
        {"name": spec.wire_name, "description": spec.description, "parametersJsonSchema": dict(spec.input_schema)}
        for spec in specs
    ]
    return [{"functionDeclarations": declared}] if declared else []


def read_call(block: object, specs: Sequence[ToolSpec] = ()) -> ToolCall:
    """Return the call of a `functionCall`, or of a part that contains one. A call without an id gets one."""
    inner = member(block, "functionCall") or member(block, "function_call") or block
    call_id = member(inner, "id") or f"{_MADE_UP}{uuid7()}"
    return call_of(call_id, member(inner, "name"), member(inner, "args"), specs)


def result_message(result: ToolResult, call: ToolCall) -> dict[str, object]:
    """Return a user content with the `functionResponse`. An image is a part of it."""
    value = dict(result.result or {})
    image = image_of(result)
    if image is not None:
        del value["data_base64"]
    answer: dict[str, object] = {
        "name": call.name.replace(".", "_"),
        "response": {"output": encodable(value)} if result.success else {"error": result.error},
    }
    if call.id and not call.id.startswith(_MADE_UP):
        answer["id"] = call.id
    if image is not None:
        answer["parts"] = [{"inlineData": {"mimeType": image.media_type, "data": image.data}}]
    return {"role": "user", "parts": [{"functionResponse": answer}]}
