"""Where a run stands, as a model can tell it from its request: the task, the skills, and what was done so far.

Nothing is kept between requests; the same request always gives the same situation.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from prowess.agent.model import ToolMessage, UserMessage
from prowess.runtime.disclosure.model_texts import AVAILABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.agent.model import ModelRequest
    from prowess.tools import ToolSpec

_SAID = ("stdout", "text", "content", "output", "result")  # where results of tools have what they say
_ACTIVE = "<active_skills>\n"
_LISTED = re.compile(r"<skill>\n<name>([^<]*)</name>\n(?:<description>([^<]*)</description>\n)?")
_IN_TOOL = re.compile(r'^"([^"\n]+)": (.*)$', re.MULTILINE)
_BODY = re.compile(r'<skill name="([^"]*)"[^>]*>\n(.*?)\n</skill>\n', re.DOTALL)


class Known(Struct, frozen=True, kw_only=True):
    """A skill that can be started."""

    name: str
    description: str


class Done(Struct, frozen=True, kw_only=True):
    """A call that was made: `worked` is false where it failed, or where its script ended with another code than 0.

    `output` is what it said: standard output, the text of a file, or the error; empty for the start of a skill.
    """

    tool: str
    arguments: Mapping[str, object]
    worked: bool
    output: str


class Situation(Struct, frozen=True, kw_only=True):
    """One moment of a run. `body` are the instructions of the skill that is followed; None where none is."""

    task: str
    skills: tuple[Known, ...]
    body: str | None
    done: tuple[Done, ...]
    tools: Mapping[str, ToolSpec]


def situation(request: ModelRequest) -> Situation:
    """Read a request. The first message is the task; sections of the instructions say what there is."""
    tools = {spec.name: spec for spec in request.tools}
    named = {spec.wire_name: spec.name for spec in request.tools}
    task = next((message.text for message in request.messages if isinstance(message, UserMessage)), "")
    done = tuple(_done(message, named) for message in request.messages if isinstance(message, ToolMessage))
    skills = _skills(request.instructions, tools)
    body = _body(request.instructions) or _body_of_results(request)
    if body is None and not skills and "skills.read" in tools:
        body = request.instructions  # a sub-agent: its instructions are the skill
    return Situation(task=task, skills=skills, body=body, done=done, tools=tools)


def _skills(instructions: str, tools: Mapping[str, ToolSpec]) -> tuple[Known, ...]:
    # The last section is the session's own; what a project says of itself stands before it.
    section = instructions.rpartition(AVAILABLE)[2].partition("</available_skills>")[0]
    found = _LISTED.findall(section) if AVAILABLE in instructions else []
    if not found and "skill" in tools:
        listing = tools["skill"].description.partition(AVAILABLE)[2].partition("</available_skills>")[0]
        found = _IN_TOOL.findall(listing)
    return tuple(Known(name=html.unescape(name), description=html.unescape(text)) for name, text in found)


def _body(instructions: str) -> str | None:
    """Return the body that was loaded last: where skills differ, it wins."""
    bodies = _BODY.findall(instructions.rpartition(_ACTIVE)[2]) if _ACTIVE in instructions else []
    return bodies[-1][1] if bodies else None


def _body_of_results(request: ModelRequest) -> str | None:
    for message in reversed(request.messages):
        if isinstance(message, ToolMessage) and message.result.success:
            value = message.result.result or {}
            loaded = value.get("active_skills", [value] if "base_path" in value else [])
            contents = [entry["content"] for entry in cast("list[dict[str, object]]", loaded) if entry.get("content")]
            if contents:
                return str(contents[-1])
    return None


def _done(message: ToolMessage, named: Mapping[str, str]) -> Done:
    value = message.result.result or {}
    keys = () if "base_path" in value else _SAID  # the instructions of a skill are nothing that was found out
    output = next((str(value[key]) for key in keys if value.get(key)), "")
    worked = message.result.success and value.get("exit_code", 0) == 0
    if not worked:
        output = message.result.error or str(value.get("stderr") or output)
    return Done(
        tool=named.get(message.call.name, message.call.name),
        arguments=message.call.arguments,
        worked=worked,
        output=output.strip(),
    )
