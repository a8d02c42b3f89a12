"""Glue for agent frameworks that bring their own loop: the tools and the instructions of a session, in their types.

One module a framework, each with the extra of its library: `pydantic_ai`, `langchain`, `openai_agents`, and
`agentskills_core` for catalogs; `opentelemetry` makes spans of events. Nothing is decided here: every call goes through
the `ToolExecutor` of the session.
"""

from __future__ import annotations

from prowess.errors import SkillError


class MissingExtraError(SkillError, ImportError):
    """The module `adapter` cannot be imported; installing `extra` of Prowess mends that, `why` is Python's sentence."""

    code = "unavailable"
    adapter: str
    extra: str
    why: str
    sentence = "{adapter} needs a library that is not here ({why}): pip install 'prowess[{extra}]'"
