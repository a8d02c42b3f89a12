"""An agent of pydantic-ai with skills: python with_pydantic_ai.py "Sum up march.csv"."""

import asyncio
import sys

from pydantic_ai import Agent

from prowess import Catalog, Session
from prowess.adapters.pydantic_ai import skills_toolset


async def main(task: str) -> None:
    """Carry out one task."""
    session = Session(Catalog("examples/skills"), workspace=".")
    agent = Agent("openai:gpt-4o", instructions="You are a clerk.", toolsets=[skills_toolset(session)])
    result = await agent.run(task)
    print(result.output)
    await session.close()


if len(sys.argv) == 1:
    sys.exit(__doc__)
asyncio.run(main(sys.argv[1]))
