"""A graph of LangGraph with skills: python with_langgraph.py "Sum up march.csv"."""

import asyncio
import sys

from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from prowess import Catalog, Session
from prowess.adapters.langchain import skills_instructions, skills_tools


async def main(task: str) -> None:
    """Carry out one task."""
    session = Session(Catalog("examples/skills"), workspace=".")
    tools, instructions = skills_tools(session), skills_instructions(session, "You are a clerk.")
    model = ChatOpenAI(model="gpt-4o").bind_tools(tools)

    async def ask(state: MessagesState) -> dict:
        return {"messages": [await model.ainvoke([await instructions(), *state["messages"]])]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", tools_condition)
    graph.add_edge("tools", "ask")
    result = await graph.compile().ainvoke({"messages": [("user", task)]})
    print(result["messages"][-1].text)
    await session.close()


if len(sys.argv) == 1:
    sys.exit(__doc__)
asyncio.run(main(sys.argv[1]))
