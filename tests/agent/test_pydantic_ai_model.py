"""The model layer of pydantic-ai as it is: its own test models, and its OpenAI client over a real connection."""

from __future__ import annotations

import json
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prowess.agent import (
    Agent,
    ModelError,
    ModelRequest,
    ModelSettings,
    PydanticAIModel,
    Said,
    ScriptedModel,
    UserMessage,
)
from prowess.catalog import Catalog
from prowess.errors import InvalidArgumentsError
from tests.agent.making import calls, error_code, value

pytest.importorskip("pydantic_ai", reason="the extra `agent` is not installed")

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from pydantic_ai.messages import ModelResponsePart
    from pydantic_ai.models.function import DeltaToolCalls

EXAMPLES = Path(__file__).parents[2] / "examples" / "skills"
ASKED = ModelRequest(instructions="", messages=(UserMessage(text="Go."),), tools=())


@pytest.mark.anyio
async def test_their_own_test_model_calls_tools_and_answers(tmp_path: Path) -> None:
    model = PydanticAIModel(TestModel(call_tools=["skills_unload"], custom_output_text="All done."))
    result = await Agent(model, catalog=Catalog(EXAMPLES)).run("Go.")
    assert (result.text, result.turns) == ("All done.", 2)
    assert result.usage.input_tokens > 0


@pytest.mark.anyio
async def test_a_streamed_model_loads_a_skill_and_sees_new_instructions_and_its_own_turn() -> None:
    told: list[str | None] = []
    histories: list[list[ModelMessage]] = []

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        told.append(info.instructions)
        histories.append(list(messages))
        if len(told) == 1:
            assert "skills_load" in [tool.name for tool in info.function_tools]
            yield "I load "
            yield "it."
            yield {1: DeltaToolCall(name="skills_load", json_args='{"names": ["csv-', tool_call_id="a1")}
            yield {1: DeltaToolCall(json_args='report"]}')}
        else:
            yield "Done."

    said: list[str] = []
    agent = Agent(
        PydanticAIModel(FunctionModel(stream_function=stream)),
        catalog=Catalog(EXAMPLES),
        on_event=lambda step: said.append(step.text) if isinstance(step, Said) else None,
    )
    result = await agent.run("Go.")
    assert said == ["I load ", "it.", "Done."]
    assert value(result, 0)["active_skills"][0]["name"] == "csv-report"
    assert '<skill name="csv-report">' not in str(told[0])
    assert '<skill name="csv-report">' in str(told[1])
    assert isinstance(histories[1][1], ModelResponse)
    assert histories[1][1].text == "I load it."
    returned = histories[1][2].parts[0]
    assert isinstance(returned, ToolReturnPart)
    assert (returned.tool_call_id, json.loads(str(returned.content))["success"]) == ("a1", True)


@pytest.mark.parametrize(("text", "why"), [('{"names": [', "Arguments are not JSON"), ("[1]", "must be a JSON object")])
@pytest.mark.anyio
async def test_arguments_that_are_no_json_object_are_a_failed_call(text: str, why: str) -> None:
    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        if len(messages) == 1:
            yield {0: DeltaToolCall(name="skills_load", json_args=text, tool_call_id="a1")}
        else:
            yield "Sorry."

    model = PydanticAIModel(FunctionModel(stream_function=stream))
    result = await Agent(model, catalog=Catalog(EXAMPLES)).run("Go.")
    assert error_code(result, 0) == "invalid_arguments"
    assert result.text == "Sorry."


@pytest.mark.anyio
async def test_a_turn_of_another_model_can_stand_in_the_history() -> None:
    """As where a skill is followed with a model of its own: that one did not speak before."""
    seen: list[list[ModelMessage]] = []

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        seen.append(list(messages))
        yield "Done."

    first = ScriptedModel([calls(("skills_load", {"names": ["csv-report"]}), text="I load it.")])
    scripted = Agent(first, catalog=Catalog(EXAMPLES), max_turns=1)
    so_far = (await scripted.run("Go.")).transcript
    model = PydanticAIModel(FunctionModel(stream_function=stream))
    parts = [part async for part in model.stream(ModelRequest(instructions="", messages=so_far, tools=()))]
    assert len(parts) > 1
    answer = seen[0][1]
    assert isinstance(answer, ModelResponse)
    assert (answer.text, answer.tool_calls[0].args) == ("I load it.", {"names": ["csv-report"]})


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nosuch:model", "cannot be used: Unknown .*; name it PROVIDER:MODEL"),
        ("openai:gpt-4o", "cannot be used"),
        ("no-provider-at-all", "cannot be used: .*; name it PROVIDER:MODEL"),
    ],
)
def test_a_model_that_cannot_be_reached_is_refused_at_once(
    name: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InvalidArgumentsError, match=why):
        Agent(name, catalog=Catalog(EXAMPLES))


@pytest.mark.parametrize(
    ("missing", "why"),
    [("pydantic_ai.models", "need pydantic-ai"), ("pydantic_ai.models.openai", "client of 'openai:gpt-4o' is not")],
)
def test_what_is_not_installed_is_named(missing: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setitem(sys.modules, missing, None)  # what Python takes for a module that cannot be found
    with pytest.raises(InvalidArgumentsError, match=why):
        PydanticAIModel("openai:gpt-4o")


class _Provider(BaseHTTPRequestHandler):
    """Speaks the streamed form of OpenAI's Chat Completions: first a call, then an answer, or nothing but an error."""

    protocol_version = "HTTP/1.1"  # connections stay open, as with a real provider
    asked: list[dict[str, Any]]
    broken: int  # the status of every answer, or 0

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body)
        if self.broken:
            self.send_response(self.broken)
            said = b'{"error": {"message": "the model is asleep"}}'
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in _call() if len(self.asked) == 1 else _answer():
            self._event(json.dumps({**_CHUNK, **chunk}))
        self._event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, text: str) -> None:
        data = f"data: {text}\n\n".encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name that http.server gives it
        """Say nothing."""


_CHUNK = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}


def _delta(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _call() -> list[dict[str, Any]]:
    head = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "skills_load", "arguments": ""}}
    return [
        _delta({"role": "assistant", "tool_calls": [head]}),
        _delta({"tool_calls": [{"index": 0, "function": {"arguments": '{"names": '}}]}),
        _delta({"tool_calls": [{"index": 0, "function": {"arguments": '["csv-report"]}'}}]}),
        _delta({}, "tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}},
    ]


def _answer() -> list[dict[str, Any]]:
    return [
        _delta({"role": "assistant", "content": "All "}),
        _delta({"content": "done."}),
        _delta({}, "stop"),
        {"choices": [], "usage": {"prompt_tokens": 200, "completion_tokens": 20, "total_tokens": 220}},
    ]


@contextmanager
def _provider(*, broken: int = 0) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    asked: list[dict[str, Any]] = []
    handler = type("Handler", (_Provider,), {"asked": asked, "broken": broken})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True  # one may wait for the next request on an open connection
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _openai(url: str) -> PydanticAIModel:
    chat = pytest.importorskip("pydantic_ai.models.openai", reason="OpenAI's client is not installed")
    from pydantic_ai.providers.openai import OpenAIProvider

    return PydanticAIModel(chat.OpenAIChatModel("gpt-4o", provider=OpenAIProvider(base_url=url, api_key="none")))


@pytest.mark.anyio
async def test_a_run_over_the_protocol_of_a_provider() -> None:
    with _provider() as (url, asked):
        result = await Agent(_openai(url), catalog=Catalog(EXAMPLES)).run("Go.")
    assert (result.text, result.turns, result.skills_used) == ("All done.", 2, ("csv-report",))
    assert (result.usage.input_tokens, result.usage.output_tokens) == (300, 30)
    assert result.usage.cost_usd is not None
    assert result.usage.cost_usd > 0
    first, second = asked
    assert "skills_load" in [tool["function"]["name"] for tool in first["tools"]]
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "tool"]
    assert '<skill name="csv-report">' not in first["messages"][0]["content"]
    assert '<skill name="csv-report">' in second["messages"][0]["content"]
    assert second["messages"][3]["tool_call_id"] == "call_1"


@pytest.mark.anyio
async def test_what_a_provider_refuses_is_the_reason_that_the_run_gives() -> None:
    with _provider(broken=400) as (url, _):
        model = _openai(url)
        with pytest.raises(ModelError, match="the model is asleep"):
            [part async for part in model.stream(ASKED)]
        result = await Agent(model, catalog=Catalog(EXAMPLES)).run("Go.")
    assert result.ended == "model_failed"
    assert "the model is asleep" in str(result.reason)


@pytest.mark.anyio
async def test_an_answer_that_is_no_stream_says_what_the_provider_must_do() -> None:
    with _provider(broken=200) as (url, _):
        async with _openai(url) as model:
            with pytest.raises(ModelError, match="the address of the model must stream"):
                [part async for part in model.stream(ASKED)]


def test_one_agent_serves_several_runs_each_with_an_event_loop_of_its_own() -> None:
    with _provider() as (url, asked):
        agent = Agent(_openai(url), catalog=Catalog(EXAMPLES))
        texts = [agent.run_sync("Go.").text for _ in range(3)]
    assert (texts, len(asked)) == (["All done."] * 3, 4)


@pytest.mark.anyio
async def test_the_settings_of_a_request_reach_the_provider() -> None:
    settings = ModelSettings(max_output_tokens=77, temperature=0.25, seed=5)
    with _provider() as (url, asked):
        agent = Agent(_openai(url), catalog=Catalog(EXAMPLES), settings=settings)
        await agent.run("Go.")
    bounds = [body.get("max_completion_tokens", body.get("max_tokens")) for body in asked]
    assert (bounds, [body["temperature"] for body in asked], [body["seed"] for body in asked]) == (
        [77, 77],
        [0.25, 0.25],
        [5, 5],
    )


@pytest.mark.anyio
async def test_the_client_sends_a_failed_request_again_only_as_often_as_the_settings_say() -> None:
    asked = ModelRequest(instructions="", messages=ASKED.messages, tools=(), settings=ModelSettings(client_retries=0))
    with _provider(broken=503) as (url, bodies):
        async with _openai(url) as model:
            with pytest.raises(ModelError, match="the model is asleep") as caught:
                [part async for part in model.stream(asked)]
        assert (len(bodies), caught.value.status, caught.value.refused) == (1, 503, False)


@pytest.mark.anyio
async def test_a_model_that_ignores_a_bound_that_caps_rest_on_is_refused() -> None:
    class Ignoring(FunctionModel):
        unsupported_settings = frozenset({"max_tokens", "temperature"})

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        del messages, info
        yield "Done."

    model = PydanticAIModel(Ignoring(stream_function=stream))
    unbounded = Agent(model, catalog=Catalog(EXAMPLES), settings=ModelSettings(temperature=1.0))
    assert (await unbounded.run("Go.")).answered
    bounded = Agent(model, catalog=Catalog(EXAMPLES), settings=ModelSettings(max_output_tokens=5))
    assert "ignores max_tokens" in str((await bounded.run("Go.")).reason)
    several = PydanticAIModel(FallbackModel(TestModel(), TestModel()))
    assert (await Agent(several, catalog=Catalog(EXAMPLES)).run("Go.")).turns > 0
    one_call = Agent(several, catalog=Catalog(EXAMPLES), settings=ModelSettings(client_retries=0))
    assert "may be several calls" in str((await one_call.run("Go.")).reason)


def test_a_response_survives_as_json_with_what_its_provider_needs_back() -> None:
    model = PydanticAIModel(TestModel())
    parts: list[ModelResponsePart] = [
        ThinkingPart(content="hm", signature="c2ln", provider_name="anthropic"),
        TextPart(content="I load it."),
        ToolCallPart(tool_name="skills_load", args='{"names": ["a"]}', tool_call_id="a1"),
    ]
    response = ModelResponse(parts=parts, provider_details={"service_tier": "default"})
    data = json.loads(json.dumps(model.opaque_data(response)))
    assert model.opaque_value(data) == response
    others: tuple[object, ...] = ("text", [], [{}], None)
    for other in others:
        with pytest.raises(ValueError):  # noqa: PT011 -- in the words of pydantic
            model.opaque_value(other)
    with pytest.raises(ValueError, match="no response of pydantic-ai"):
        model.opaque_data("text")
