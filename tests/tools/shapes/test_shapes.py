"""Every shape: definitions, calls and answers, checked by schemas written from the providers' published forms."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING

import jsonschema
import pytest

from prowess.errors import SkillNotFoundError
from prowess.tools import ToolCall, ToolExecutor, ToolResult, ToolSpec, require_executor
from prowess.tools.shapes import SHAPES, anthropic, openai_chat
from tests.tools.shapes.cases import FAILED, IMAGE, NAMES, OK, PNG, SPECS, definitions

if TYPE_CHECKING:
    from collections.abc import Callable

_NAME = {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,39}$"}
_TEXT = {"type": "string"}
_SCHEMA = {"type": "object", "properties": {"type": {"const": "object"}}, "required": ["type", "properties"]}


def _closed(required: dict[str, object], **optional: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": required | optional,
        "required": list(required),
        "additionalProperties": False,
    }


_FUNCTION = {"name": _NAME, "description": _TEXT, "parameters": _SCHEMA, "strict": {"type": "boolean"}}

DEFINITIONS: dict[str, dict[str, object]] = {
    "anthropic": _closed({"name": _NAME, "description": _TEXT, "input_schema": _SCHEMA}),
    "openai-chat": _closed({"type": {"const": "function"}, "function": _closed(_FUNCTION)}),
    "openai-responses": _closed({"type": {"const": "function"}, **_FUNCTION}),
    "gemini": _closed(
        {
            "functionDeclarations": {
                "type": "array",
                "items": _closed({"name": _NAME, "description": _TEXT, "parametersJsonSchema": _SCHEMA}),
            }
        }
    ),
    "mcp": _closed({"name": _NAME, "description": _TEXT, "inputSchema": _SCHEMA, "annotations": {"type": "object"}}),
}

_IMAGE_SOURCE = _closed({"type": {"const": "base64"}, "media_type": {"enum": ["image/png"]}, "data": _TEXT})
_BLOCKS = {
    "type": "array",
    "items": {
        "anyOf": [
            _closed({"type": {"const": "text"}, "text": _TEXT}),
            _closed({"type": {"const": "image"}, "source": _IMAGE_SOURCE}),
        ]
    },
}
_INPUTS = {
    "type": "array",
    "items": {
        "anyOf": [
            _closed({"type": {"const": "input_text"}, "text": _TEXT}),
            _closed({"type": {"const": "input_image"}, "image_url": {"pattern": "^data:image/png"}, "detail": _TEXT}),
        ]
    },
}  # fmt: skip
_RESPONSE = {"anyOf": [_closed({"output": {"type": "object"}}), _closed({"error": _TEXT})]}
_INLINE = _closed({"inlineData": _closed({"mimeType": {"const": "image/png"}, "data": _TEXT})})

MESSAGES: dict[str, dict[str, object]] = {
    "anthropic": _closed(
        {
            "role": {"const": "user"},
            "content": {
                "type": "array",
                "items": _closed(
                    {
                        "type": {"const": "tool_result"},
                        "tool_use_id": {"const": "c1"},
                        "content": _BLOCKS,
                        "is_error": {"type": "boolean"},
                    }
                ),
            },
        }
    ),
    "openai-chat": _closed({"role": {"const": "tool"}, "tool_call_id": {"const": "c1"}, "content": _TEXT}),
    "openai-responses": _closed(
        {"type": {"const": "function_call_output"}, "call_id": {"const": "c1"}, "output": {"anyOf": [_TEXT, _INPUTS]}}
    ),
    "gemini": _closed(
        {
            "role": {"const": "user"},
            "parts": {
                "type": "array",
                "items": _closed(
                    {
                        "functionResponse": _closed(
                            {"name": {"const": "files_read"}, "response": _RESPONSE, "id": {"const": "c1"}},
                            parts={"type": "array", "items": _INLINE},
                        )
                    }
                ),
            },
        }
    ),
    "mcp": {"type": "object", "required": ["content", "isError"]},
}

BLOCKS: dict[str, Callable[[object], dict[str, object]]] = {
    "anthropic": lambda given: {"type": "tool_use", "id": "c1", "name": "files_read", "input": given},
    "openai-chat": lambda given: {
        "type": "function",
        "id": "c1",
        "function": {"name": "files_read", "arguments": json.dumps(given)},
    },
    "openai-responses": lambda given: {
        "type": "function_call",
        "call_id": "c1",
        "name": "files_read",
        "arguments": json.dumps(given),
    },
    "gemini": lambda given: {"functionCall": {"id": "c1", "name": "files_read", "args": given}},
    "mcp": lambda given: {"name": "files_read", "arguments": given},
}


def _as_object(value: object) -> object:
    """Return a block as the libraries of providers give it."""
    if isinstance(value, dict) and ("name" in value or "function" in value):
        keep = {"args", "arguments", "input"}
        return SimpleNamespace(**{key: item if key in keep else _as_object(item) for key, item in value.items()})
    return value


@pytest.mark.proves("runtime.tools.names.export")
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_definitions_have_the_published_form(name: str, *, strict: bool) -> None:
    shaped = definitions(name, strict=strict)
    for each in shaped:
        jsonschema.validate(each, DEFINITIONS[name])
    assert SHAPES[name].definitions([]) == []
    assert "files_read" in json.dumps(shaped)


@pytest.mark.parametrize("result", [OK, FAILED, IMAGE], ids=["ok", "failed", "image"])
@pytest.mark.parametrize("name", NAMES)
def test_answers_have_the_published_form(name: str, result: ToolResult) -> None:
    message = SHAPES[name].result_message(result, ToolCall(id="c1", name="files.read", arguments={}))
    jsonschema.validate(message, MESSAGES[name])
    text = json.dumps(message, ensure_ascii=False)
    assert ("no skill is called 'pfd'" in text) is (result is FAILED)
    assert ("ä" in text) is (result is OK)
    if result is IMAGE:
        assert text.count(PNG) == {"openai-chat": 0, "mcp": 2}.get(name, 1)


def test_a_failure_is_marked_as_each_provider_can() -> None:
    call = ToolCall(id="c1", name="files.read", arguments={})
    shaped = {name: json.dumps(SHAPES[name].result_message(FAILED, call)) for name in NAMES}
    assert '"is_error": true' in shaped["anthropic"]
    assert '"isError": true' in shaped["mcp"]
    assert '"error": "no skill' in shaped["gemini"]
    assert '"content": "Error: no skill' in shaped["openai-chat"]
    assert '"output": "Error: no skill' in shaped["openai-responses"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrap", [dict, _as_object], ids=["dictionary", "object"])
def test_a_call_is_read_from_a_dictionary_or_an_object(name: str, wrap: Callable[[object], object]) -> None:
    given = {"path": "a", "env": {"A": "1"}}
    call = SHAPES[name].read_call(wrap(BLOCKS[name](given)), SPECS)
    assert (call.name, call.arguments, call.unreadable) == ("files_read", given, None)
    assert call.id == "c1" if name != "mcp" else len(call.id) == 36


class Echo:
    spec = SPECS[0]

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        require_executor(self, call)
        return arguments


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"path": "a"', "Arguments are not valid JSON: Expecting ',' delimiter at position 12; send one JSON object"),
        ("path=a", "Arguments are not valid JSON: Expecting value at position 0; send one JSON object"),
        ("[" * 100_000, "Arguments are not valid JSON: too deep; send one JSON object"),
        ('["a"]', "Invalid parameter type: expected object, got array (arguments)"),
        ('"a"', "Invalid parameter type: expected object, got string (arguments)"),
    ],
)
async def test_arguments_that_cannot_be_read_are_a_result(name: str, text: str, why: str) -> None:
    block = BLOCKS[name]({})
    function = block.get("function", block)
    assert isinstance(function, dict)
    function["arguments"] = text
    result = await ToolExecutor([Echo()]).call(SHAPES[name].read_call(block, SPECS))
    assert result.error_detail is not None
    assert (result.success, result.error_detail["code"], result.error) == (False, "invalid_arguments", why)


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("block", [None, {}, {"name": 3}, {"function": None}, "text"])
async def test_a_block_that_is_none_is_an_unknown_tool(name: str, block: object) -> None:
    result = await ToolExecutor([Echo()]).call(SHAPES[name].read_call(block))
    assert result.error_detail is not None
    assert result.error_detail["code"] == "tool_not_found"


def test_no_arguments_may_be_no_text() -> None:
    for text in ("", " ", "{}"):
        block = {"id": "1", "function": {"name": "a", "arguments": text}}
        assert SHAPES["openai-chat"].read_call(block).arguments == {}
    assert SHAPES["gemini"].read_call({"name": "a"}).arguments == {}


def test_a_gemini_call_without_an_id_is_answered_without_one() -> None:
    shape = SHAPES["gemini"]
    first, second = (shape.read_call({"name": "a", "args": {}}) for _ in range(2))
    assert first.id != second.id
    assert "'id'" not in str(shape.result_message(OK, first))


def test_the_answers_of_one_turn_are_one_anthropic_message() -> None:
    calls = [ToolCall(id=name, name="a", arguments={}) for name in ("c1", "c2")]
    message = anthropic.results_message([(OK, calls[0]), (FAILED, calls[1])])
    content = message["content"]
    assert isinstance(content, list)
    assert [(block["tool_use_id"], block["is_error"]) for block in content] == [("c1", False), ("c2", True)]


def test_an_image_for_a_chat_stands_in_a_message_of_its_own() -> None:
    message = openai_chat.image_message(IMAGE)
    assert message is not None
    assert message["content"] == [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}]
    assert openai_chat.image_message(OK) is None


@pytest.mark.parametrize(
    "more", [{"truncated": True}, {"offset": 10}, {"media_type": "image/tiff"}, {"data_base64": 3}]
)
def test_what_is_no_whole_image_stays_data(more: dict[str, object]) -> None:
    result = ToolResult.ok({**(IMAGE.result or {}), **more})
    message = result.for_anthropic("c1")
    assert '"type": "image"' not in json.dumps(message)


def test_a_result_has_every_shape() -> None:
    call = ToolCall(id="c1", name="files.read", arguments={})
    assert OK.for_anthropic("c1") == SHAPES["anthropic"].result_message(OK, call)
    assert OK.for_openai_chat("c1") == SHAPES["openai-chat"].result_message(OK, call)
    assert OK.for_openai_responses("c1") == SHAPES["openai-responses"].result_message(OK, call)
    assert OK.for_gemini("files_read", "c1") == SHAPES["gemini"].result_message(OK, call)
    assert OK.for_mcp() == SHAPES["mcp"].result_message(OK, call)
    assert ToolResult.failed(SkillNotFoundError("a")).for_mcp()["isError"] is True
    assert ToolSpec(name="a", description="", input_schema={"type": "object"}).wire_name == "a"
