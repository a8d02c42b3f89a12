"""What is LangChain's alone: calls without an event loop, graphs of one's own, and messages with a status."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("langchain", reason="the extra `langchain` is not installed")
pytest.importorskip("langchain_openai", reason="LangChain's client of OpenAI is not installed")

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from openai import DefaultAsyncHttpxClient, DefaultHttpxClient
from pydantic import SecretStr

from prowess.adapters.langchain import skills_instructions, skills_middleware, skills_tools
from prowess.catalog import Catalog
from prowess.errors import InvalidArgumentsError
from prowess.runtime import Session, SyncSession
from tests.adapters import scenario
from tests.adapters.provider import call_id, provider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from langchain.agents.middleware import InputAgentState

    from tests.adapters.provider import Call, Turn

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
LOAD: Call = ("skills_load", {"names": ["tally"]})


def _asked() -> InputAgentState:
    return {"messages": [HumanMessage("How many rows?")]}


@pytest.fixture
async def client() -> AsyncIterator[DefaultAsyncHttpxClient]:
    """Connections that end with the test; LangChain never closes its own."""
    async with DefaultAsyncHttpxClient() as opened:
        yield opened


@pytest.fixture
def blocking_client() -> Iterator[DefaultHttpxClient]:
    """The same without an event loop."""
    with DefaultHttpxClient() as opened:
        yield opened


def _model(url: str, client: DefaultAsyncHttpxClient | DefaultHttpxClient, *, responses: bool = False) -> ChatOpenAI:
    kind = "http_async_client" if isinstance(client, DefaultAsyncHttpxClient) else "http_client"
    options: dict[str, Any] = {kind: client, "use_responses_api": responses}
    return ChatOpenAI(model="gpt-4o", base_url=url, api_key=SecretStr("none"), max_retries=0, **options)


@pytest.mark.anyio
async def test_a_failed_call_is_a_message_with_the_status_error_also_over_responses(
    tmp_path: Path, client: DefaultAsyncHttpxClient
) -> None:
    scene = scenario.scene(tmp_path)
    with provider(*scenario.TURNS) as running:
        model = _model(running.url, client, responses=True)
        agent = create_agent(model, system_prompt=scenario.RULES, middleware=[skills_middleware(scene.session)])
        result = await agent.ainvoke(_asked())
    scenario.check(running.asked, scene)
    messages = [message for message in result["messages"] if isinstance(message, ToolMessage)]
    failed = {message.tool_call_id for message in messages if message.status == "error"}
    assert failed == {call_id(2, 0), call_id(2, 1), call_id(2, 2)}
    loaded = next(message for message in messages if message.tool_call_id == call_id(0, 0))
    assert loaded.artifact["success"] is True


def _wipe(wiped: list[str]) -> Callable[[str], str]:
    def wipe(path: str) -> str:
        """Remove a file."""
        wiped.append(path)
        return "wiped"

    return wipe


def test_a_sync_session_serves_invoke(tmp_path: Path, blocking_client: DefaultHttpxClient) -> None:
    wiped: list[str] = []
    wipe: Call = ("wipe", {"path": "a"})
    turns: tuple[Turn, ...] = (
        [wipe],
        [LOAD, wipe, ("skills_read", {"path": "references/format.md"})],
        [("skills_load", "{")],
        "Done.",
    )
    with SyncSession(Catalog(scenario.skills(tmp_path))) as session, provider(*turns) as running:
        agent = create_agent(
            _model(running.url, blocking_client), tools=[_wipe(wiped)], middleware=[skills_middleware(session)]
        )
        agent.invoke(_asked())
    assert [scenario.BODY in request.instructions for request in running.asked] == [False, False, True, True]
    results = running.asked[-1].results
    assert "One line, one number." in results[call_id(1, 2)]
    assert "Arguments are not valid JSON" in results[call_id(2, 0)]


def test_a_sync_session_holds_other_tools_to_the_restriction(
    tmp_path: Path, blocking_client: DefaultHttpxClient
) -> None:
    wiped: list[str] = []
    with SyncSession(Catalog(scenario.skills(tmp_path))) as session:
        session.load(["tally"])
        with provider([("wipe", {"path": "a"})], "Done.") as running:
            agent = create_agent(
                _model(running.url, blocking_client), tools=[_wipe(wiped)], middleware=[skills_middleware(session)]
            )
            agent.invoke(_asked())
    assert "Tool 'wipe' not allowed by active skill 'tally'" in running.asked[-1].results[call_id(0, 0)]
    assert wiped == []


@pytest.mark.anyio
async def test_a_sync_session_serves_ainvoke_too(tmp_path: Path, client: DefaultAsyncHttpxClient) -> None:
    with SyncSession(Catalog(scenario.skills(tmp_path))) as session, provider([LOAD], "Done.") as running:
        agent = create_agent(_model(running.url, client), middleware=[skills_middleware(session)])
        await agent.ainvoke(_asked())
    assert [scenario.BODY in request.instructions for request in running.asked] == [False, True]


def test_a_session_says_how_to_call_it_where_there_is_no_event_loop(
    tmp_path: Path, blocking_client: DefaultHttpxClient
) -> None:
    scene = scenario.scene(tmp_path)
    with provider("Done.") as running:
        agent = create_agent(_model(running.url, blocking_client), middleware=[skills_middleware(scene.session)])
        with pytest.raises(InvalidArgumentsError, match=r"ainvoke.*SyncSession"):
            agent.invoke(_asked())
    assert running.asked == []


@pytest.mark.anyio
async def test_a_system_prompt_of_blocks_keeps_them(tmp_path: Path, client: DefaultAsyncHttpxClient) -> None:
    scene = scenario.scene(tmp_path)
    cached = SystemMessage(content=[{"type": "text", "text": scenario.RULES}])
    with provider("Done.") as running:
        agent = create_agent(
            _model(running.url, client), system_prompt=cached, middleware=[skills_middleware(scene.session)]
        )
        await agent.ainvoke(_asked())
    content = running.asked[0].body["messages"][0]["content"]
    assert content[0] == {"type": "text", "text": scenario.RULES}
    assert "<name>tally</name>" in content[1]["text"]


@pytest.mark.anyio
async def test_without_skills_an_agent_is_what_it_was(tmp_path: Path, client: DefaultAsyncHttpxClient) -> None:
    with provider("Done.") as running:
        session = Session(Catalog(tmp_path))
        await create_agent(_model(running.url, client), middleware=[skills_middleware(session)]).ainvoke(_asked())
    assert "tools" not in running.asked[0].body
    assert [message["role"] for message in running.asked[0].body["messages"]] == ["user"]


@pytest.mark.anyio
async def test_a_tool_that_comes_later_is_found_when_it_is_called(
    tmp_path: Path, client: DefaultAsyncHttpxClient
) -> None:
    scene = scenario.scene(tmp_path)

    @scene.session.function
    def learn() -> str:
        """Learn to greet."""

        @scene.session.function
        def greet() -> str:
            """Greet."""
            return "good morning"

        return "learned"

    with provider([("learn", {})], [("greet", {})], "Done.") as running:
        await create_agent(_model(running.url, client), middleware=[skills_middleware(scene.session)]).ainvoke(_asked())
    assert ["greet" in request.tools for request in running.asked] == [False, True, True]
    assert "good morning" in running.asked[-1].results[call_id(1, 0)]


@pytest.mark.anyio
async def test_a_graph_of_ones_own_has_the_tools_and_asks_for_the_instructions(
    tmp_path: Path, client: DefaultAsyncHttpxClient
) -> None:
    scene = scenario.scene(tmp_path)
    tools, instructions = skills_tools(scene.session), skills_instructions(scene.session, scenario.RULES)
    with provider(*scenario.TURNS[:2], "Done.") as running:
        model = _model(running.url, client).bind_tools(tools)

        async def ask(state: MessagesState) -> dict[str, list[Any]]:
            return {"messages": [await model.ainvoke([await instructions(), *state["messages"]])]}

        graph = StateGraph(MessagesState)
        graph.add_node("ask", ask)
        graph.add_node("tools", ToolNode(tools))
        graph.add_edge(START, "ask")
        graph.add_conditional_edges("ask", tools_condition)
        graph.add_edge("tools", "ask")
        result = await graph.compile().ainvoke({"messages": [HumanMessage("How many rows?")]})
    assert isinstance(result["messages"][-1], AIMessage)
    assert [scenario.BODY in request.instructions for request in running.asked] == [False, True, True]
    assert "One line, one number." in running.asked[-1].results[call_id(1, 0)]


@pytest.mark.anyio
async def test_an_image_is_for_programs(tmp_path: Path, client: DefaultAsyncHttpxClient) -> None:
    scene = scenario.scene(tmp_path)
    (tmp_path / "skills" / "tally" / "dot.png").write_bytes(PIXEL)
    await scene.session.load(["tally"])
    with provider([("skills_read", {"path": "dot.png", "encoding": "binary"})], "Done.") as running:
        agent = create_agent(_model(running.url, client), middleware=[skills_middleware(scene.session)])
        result = await agent.ainvoke(_asked())
    message = next(message for message in result["messages"] if isinstance(message, ToolMessage))
    assert "is in the artifact" in running.asked[-1].results[call_id(0, 0)]
    assert base64.b64decode(message.artifact["result"]["data_base64"]) == PIXEL


@pytest.mark.anyio
async def test_a_tool_of_the_agent_cannot_stand_in_for_one_of_the_session(
    tmp_path: Path, client: DefaultAsyncHttpxClient
) -> None:
    def publish(text: str) -> str:
        """Show a text to everybody."""
        return text

    scene = scenario.scene(tmp_path)
    with provider("Done.") as running:
        agent = create_agent(
            _model(running.url, client), tools=[publish], middleware=[skills_middleware(scene.session)]
        )
        with pytest.raises(InvalidArgumentsError, match="'publish' is in both the agent and the session"):
            await agent.ainvoke(_asked())
    assert running.asked == []
