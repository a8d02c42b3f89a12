"""The forms of the Model Context Protocol, held against the official library's own types."""

from __future__ import annotations

import json

import mcp.types

from prowess.errors import SkillNotFoundError
from prowess.tools import ToolResult, ToolSpec
from prowess.tools.shapes.mcp import ERROR_KEY, call_result, tool

SCHEMA = {"type": "object", "properties": {"names": {"type": "array"}}, "additionalProperties": False}


def test_a_tool_is_listed_under_its_wire_name() -> None:
    spec = ToolSpec(
        name="skills.load", description="Load.", title="Load", input_schema=SCHEMA, output_schema=SCHEMA, read_only=True
    )
    shape = tool(spec)
    listed = mcp.types.Tool.model_validate(shape)
    assert (listed.name, listed.title, listed.description) == ("skills_load", "Load", "Load.")
    assert shape["inputSchema"] == shape["outputSchema"] == SCHEMA
    assert shape["annotations"] == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": False,
        "openWorldHint": False,
    }


def test_what_a_tool_does_not_declare_is_left_out() -> None:
    shape = tool(ToolSpec(name="a", description="", input_schema=SCHEMA))
    assert "outputSchema" not in shape
    assert "title" not in shape


def test_a_success_is_structured_and_the_same_as_text() -> None:
    shape = call_result(ToolResult.ok({"a": "ö"}))
    mcp.types.CallToolResult.model_validate(shape)
    assert shape["structuredContent"] == {"a": "ö"}
    assert shape["isError"] is False
    content = shape["content"]
    assert isinstance(content, list)
    assert json.loads(content[0]["text"]) == {"a": "ö"}


def test_a_better_text_takes_the_place_of_json() -> None:
    assert call_result(ToolResult.ok({"a": 1}), "one")["content"] == [{"type": "text", "text": "one"}]


def test_a_failure_is_a_sentence_and_carries_its_code_beside_it() -> None:
    shape = call_result(ToolResult.failed(SkillNotFoundError("pfd", ("pdf",))))
    mcp.types.CallToolResult.model_validate(shape)
    assert shape["isError"] is True
    assert "structuredContent" not in shape
    assert shape["content"] == [{"type": "text", "text": "no skill is called 'pfd'; did you mean 'pdf'?"}]
    meta = shape["_meta"]
    assert isinstance(meta, dict)
    assert meta[ERROR_KEY]["code"] == "skill_not_found"


def test_an_image_stands_in_a_block_of_its_own() -> None:
    value = {"file_path": "a.png", "media_type": "image/png", "data_base64": "iVBORw0KGgo="}
    shape = call_result(ToolResult.ok(value))
    mcp.types.CallToolResult.model_validate(shape)
    assert shape["structuredContent"] == value
    assert shape["content"] == [
        {"type": "text", "text": '{"file_path": "a.png", "media_type": "image/png"}'},
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
    ]
