"""An agent of each framework, made as its users make one, with the framework's real client of OpenAI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

import pytest

from tests.adapters.scenario import RULES

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.runtime import Session


class Run(Protocol):
    """Lets an agent carry out one task and returns its answer; `own` is a tool of the framework's own."""

    async def __call__(
        self,
        url: str,
        session: Session,
        *,
        own: Callable[[str], str] | None = None,
        **options: Any,  # noqa: ANN401 -- those of instructions
    ) -> str: ...


async def with_pydantic_ai(
    url: str,
    session: Session,
    *,
    own: Callable[[str], str] | None = None,
    **options: Any,  # noqa: ANN401 -- as above
) -> str:
    """Run an agent of pydantic-ai over Chat Completions."""
    pytest.importorskip("pydantic_ai", reason="the extra `pydantic-ai` is not installed")
    pytest.importorskip("openai", reason="OpenAI's client is not installed")
    from pydantic_ai import Agent, FunctionToolset
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from prowess.adapters.pydantic_ai import guarded, skills_toolset

    toolsets = [skills_toolset(session, **options), *([guarded(session, FunctionToolset([own]))] if own else [])]
    async with OpenAIChatModel("gpt-4o", provider=OpenAIProvider(base_url=url, api_key="none")) as model:
        result = await Agent(model, instructions=RULES, toolsets=toolsets).run("How many rows?")
    return result.output


async def _with_openai_agents(
    url: str,
    kind: str,
    session: Session,
    own: Callable[[str], str] | None,
    **options: Any,  # noqa: ANN401 -- as above
) -> str:
    pytest.importorskip("agents", reason="the extra `openai-agents` is not installed")
    import agents
    from openai import AsyncOpenAI

    from prowess.adapters.openai_agents import guarded, skills_instructions, skills_tools

    async with AsyncOpenAI(base_url=url, api_key="none") as client:
        agent = agents.Agent[None](
            name="Clerk",
            instructions=skills_instructions(session, RULES, **options),
            tools=[
                *skills_tools(session, **options),
                *(guarded(session, [agents.function_tool(own)]) if own else []),
            ],
            model=getattr(agents, kind)("gpt-4o", client),
        )
        # Traces would be sent to OpenAI.
        config = agents.RunConfig(tracing_disabled=True, tool_not_found_behavior="return_error_to_model")
        result = await agents.Runner.run(agent, "How many rows?", run_config=config)
    return cast("str", result.final_output)


async def with_openai_responses(
    url: str,
    session: Session,
    *,
    own: Callable[[str], str] | None = None,
    **options: Any,  # noqa: ANN401 -- as above
) -> str:
    """Run an agent of the OpenAI Agents SDK over Responses."""
    return await _with_openai_agents(url, "OpenAIResponsesModel", session, own, **options)


async def with_openai_chat(
    url: str,
    session: Session,
    *,
    own: Callable[[str], str] | None = None,
    **options: Any,  # noqa: ANN401 -- as above
) -> str:
    """Run an agent of the OpenAI Agents SDK over Chat Completions."""
    return await _with_openai_agents(url, "OpenAIChatCompletionsModel", session, own, **options)


async def with_langchain(
    url: str,
    session: Session,
    *,
    own: Callable[[str], str] | None = None,
    **options: Any,  # noqa: ANN401 -- as above
) -> str:
    """Run an agent of LangChain over Chat Completions."""
    pytest.importorskip("langchain", reason="the extra `langchain` is not installed")
    pytest.importorskip("langchain_openai", reason="LangChain's client of OpenAI is not installed")
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI
    from openai import DefaultAsyncHttpxClient
    from pydantic import SecretStr

    from prowess.adapters.langchain import skills_middleware

    async with DefaultAsyncHttpxClient() as client:  # LangChain's own is never closed
        model = ChatOpenAI(
            model="gpt-4o", base_url=url, api_key=SecretStr("none"), max_retries=0, http_async_client=client
        )
        agent = create_agent(
            model,
            tools=[own] if own else [],
            system_prompt=RULES,
            middleware=[skills_middleware(session, **options)],
        )
        result = await agent.ainvoke({"messages": [{"role": "user", "content": "How many rows?"}]})
    return cast("str", result["messages"][-1].text)


HOSTS: dict[str, Run] = {
    "pydantic-ai": with_pydantic_ai,
    "openai-agents, responses": with_openai_responses,
    "openai-agents, chat": with_openai_chat,
    "langchain": with_langchain,
}
