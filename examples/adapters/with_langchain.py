"""An agent of LangChain with skills: python with_langchain.py "Sum up march.csv"."""

import sys

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

from prowess import Catalog, SyncSession
from prowess.adapters.langchain import skills_middleware

if len(sys.argv) == 1:
    sys.exit(__doc__)
with SyncSession(Catalog("examples/skills"), workspace=".") as session:
    agent = create_agent(
        ChatOpenAI(model="gpt-4o"),
        system_prompt="You are a clerk.",
        middleware=[skills_middleware(session)],
    )
    result = agent.invoke({"messages": [{"role": "user", "content": sys.argv[1]}]})
    print(result["messages"][-1].text)
