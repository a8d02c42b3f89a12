"""The shapes, held against the types of the providers' own libraries where these are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter

from prowess.tools import ToolCall
from prowess.tools.shapes import SHAPES, openai_chat
from tests.tools.shapes.cases import FAILED, IMAGE, OK, definitions

if TYPE_CHECKING:
    from prowess.tools import ToolResult

# Importing the libraries warns of many things that are not ours.
pytestmark = pytest.mark.filterwarnings("ignore")

CALL = ToolCall(id="c1", name="files.read", arguments={})
RESULTS = pytest.mark.parametrize("result", [OK, FAILED, IMAGE], ids=["ok", "failed", "image"])
_WHY = "the extra `providers` is not installed"


def _fits(kind: Any, value: object) -> None:  # noqa: ANN401 -- a TypedDict is no type to a type checker
    TypeAdapter(kind).validate_python(value, strict=False)


def test_anthropic_takes_the_definitions() -> None:
    types = pytest.importorskip("anthropic.types", reason=_WHY)
    for each in definitions("anthropic"):
        _fits(types.ToolParam, each)


@RESULTS
def test_anthropic_takes_the_answers(result: ToolResult) -> None:
    types = pytest.importorskip("anthropic.types", reason=_WHY)
    message = SHAPES["anthropic"].result_message(result, CALL)
    _fits(types.MessageParam, message)
    content = message["content"]
    assert isinstance(content, list)
    for block in content:
        _fits(types.ToolResultBlockParam, block)


def test_anthropic_calls_are_read() -> None:
    types = pytest.importorskip("anthropic.types", reason=_WHY)
    block = types.ToolUseBlock.model_validate(
        {"type": "tool_use", "id": "c1", "name": "files_read", "input": {"path": "a"}}
    )
    call = SHAPES["anthropic"].read_call(block)
    assert (call.id, call.name, call.arguments) == ("c1", "files_read", {"path": "a"})


@pytest.mark.parametrize("strict", [False, True])
def test_openai_takes_the_definitions(*, strict: bool) -> None:
    chat = pytest.importorskip("openai.types.chat", reason=_WHY)
    responses = pytest.importorskip("openai.types.responses", reason=_WHY)
    for each in definitions("openai-chat", strict=strict):
        _fits(chat.ChatCompletionFunctionToolParam, each)
    for each in definitions("openai-responses", strict=strict):
        _fits(responses.FunctionToolParam, each)


@RESULTS
def test_openai_takes_the_answers(result: ToolResult) -> None:
    chat = pytest.importorskip("openai.types.chat", reason=_WHY)
    inputs = pytest.importorskip("openai.types.responses.response_input_param", reason=_WHY)
    _fits(chat.ChatCompletionToolMessageParam, SHAPES["openai-chat"].result_message(result, CALL))
    _fits(inputs.FunctionCallOutput, SHAPES["openai-responses"].result_message(result, CALL))
    if (image := openai_chat.image_message(result)) is not None:
        _fits(chat.ChatCompletionUserMessageParam, image)


def test_openai_calls_are_read() -> None:
    chat = pytest.importorskip("openai.types.chat", reason=_WHY)
    responses = pytest.importorskip("openai.types.responses", reason=_WHY)
    inner = {"name": "files_read", "arguments": '{"path": "a"}'}
    written = {"type": "function", "id": "c1", "function": inner}
    block = chat.ChatCompletionMessageFunctionToolCall.model_validate(written)
    item = responses.ResponseFunctionToolCall.model_validate({"type": "function_call", "call_id": "c1", **inner})
    for name, each in (("openai-chat", block), ("openai-responses", item)):
        call = SHAPES[name].read_call(each)
        assert (call.id, call.name, call.arguments) == ("c1", "files_read", {"path": "a"})


def test_gemini_takes_the_definitions() -> None:
    types = pytest.importorskip("google.genai.types", reason=_WHY)
    [tool] = [types.Tool.model_validate(each) for each in definitions("gemini")]
    assert [each.name for each in tool.function_declarations] == ["files_read", "open"]
    assert tool.function_declarations[0].parameters_json_schema["required"] == ["path"]


@RESULTS
def test_gemini_takes_the_answers(result: ToolResult) -> None:
    types = pytest.importorskip("google.genai.types", reason=_WHY)
    content = types.Content.model_validate(SHAPES["gemini"].result_message(result, CALL))
    answer = content.parts[0].function_response
    assert (answer.name, answer.id, bool(answer.parts)) == ("files_read", "c1", result is IMAGE)
    assert ("error" in answer.response) is (result is FAILED)


def test_gemini_calls_are_read() -> None:
    types = pytest.importorskip("google.genai.types", reason=_WHY)
    part = types.Part.model_validate({"functionCall": {"name": "files_read", "args": {"path": "a"}}})
    for block in (part, part.function_call):
        call = SHAPES["gemini"].read_call(block)
        assert (call.name, call.arguments) == ("files_read", {"path": "a"})
