"""The capabilities of a skill: those that it declares, and those that its tools, scripts and hooks imply.

A skill without `allowed-tools` implies no tool by them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.execution.interpreters import has_interpreter
from prowess.format.fields.allowed_tools import parse_allowed_tools
from prowess.format.fields.near_fields import tool_fields
from prowess.policy.capability_names import of_tools, with_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.format.skill import Skill


def capabilities_of(skill: Skill, script_dirs: Sequence[str]) -> tuple[str, ...] | None:
    """Return the capabilities of a skill, sorted; None if a part that may state one cannot be read.

    `script_dirs` are the directories from which the policy lets scripts run.
    """
    sidecar, properties = skill.sidecar, skill.frontmatter.raw
    tools = _allowed(tool_fields(properties).allowed)
    if sidecar.faults or tools is None:
        return None
    found = of_tools(tools)
    if sidecar.tools is not None:
        found |= of_tools(each.tool.name for each in sidecar.tools.dependencies)
    if (stated := sidecar.security) is not None:
        found.update(each.capability for each in stated.capabilities)
        found.update({"network:http"} if stated.requires_network else ())
        found.update({"file:write"} if stated.modifies_files else ())
        found.update({"shell:execute"} if stated.executes_commands else ())
    if "hooks" in properties or any(_may_run(skill, script_dirs)):
        found.add("scripts")
    return with_words(found)


def _allowed(values: Iterable[object]) -> list[str] | None:
    names: list[str] = []
    for value in values:
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
            return None
        for text in texts:
            read = parse_allowed_tools(text)
            if read.fault is not None:
                return None
            names += [token.name for token in read.tokens]
    return names


def _may_run(skill: Skill, script_dirs: Sequence[str]) -> Iterable[bool]:
    below = tuple(f"{directory}/".casefold() for directory in ("scripts", *script_dirs))
    for file in skill.manifest.files:
        yield file.executable or file.path.casefold().startswith(below) or has_interpreter(file.path, b"")
