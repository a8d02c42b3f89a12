"""An agent of the OpenAI Agents SDK with skills: python with_openai_agents.py "Sum up march.csv"."""

import asyncio
import sys

from agents import Agent, RunConfig, Runner

from prowess import Catalog, Session
from prowess.adapters.openai_agents import skills_instructions, skills_tools


async def main(task: str) -> None:
    """Carry out one task."""
    session = Session(Catalog("examples/skills"), workspace=".")
    agent = Agent(
        name="Clerk",
        model="gpt-4o",
        instructions=skills_instructions(session, "You are a clerk."),
        tools=skills_tools(session),
    )
    # Without this a call of a tool that does not exist would end the run.
    config = RunConfig(tool_not_found_behavior="return_error_to_model")
    result = await Runner.run(agent, task, run_config=config)
    print(result.final_output)
    await session.close()


if len(sys.argv) == 1:
    sys.exit(__doc__)
asyncio.run(main(sys.argv[1]))
