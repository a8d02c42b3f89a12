"""Glue for agent frameworks that bring their own loop: the tools and the instructions of a session, in their types.

One module a framework, each with the extra of its library: `pydantic_ai`, `langchain`, `openai_agents`, and
`agentskills_core` for catalogs; `opentelemetry` makes spans of events. Nothing is decided here: every call goes through
the session's one door.
"""
