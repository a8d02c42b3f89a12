"""The cost of skills for a model by stage, in estimated tokens (characters / 4, rounded up).

Stage 1 is paid in every call: rules, list of skills, tools. Stage 2 is the bodies of active skills. Stage 3 is the
results of reads and script runs so far, as counted by `ReadTokens`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from msgspec import Struct, field

from prowess.runtime.disclosure.model_texts import estimate_tokens
from prowess.tools.shapes import mcp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from prowess.runtime.disclosure.model_texts import Disclosure
    from prowess.runtime.state import ActiveSkill
    from prowess.tools import ToolResult, ToolSpec


class Cost(Struct, frozen=True, kw_only=True):
    """Estimated tokens of one session.

    `sections` are the sections of the instructions by name: `base`, `available`, `active`, and the optional ones that
    were requested. `tools` are the tool specifications by name. `skills` are the bodies of active skills by name,
    whether they are in the instructions or in results. `stage1` is paid in every call, `stage2` are the bodies,
    `stage3` the results of tools so far.
    """

    sections: Mapping[str, int] = field(default_factory=dict)
    tools: Mapping[str, int] = field(default_factory=dict)
    skills: Mapping[str, int] = field(default_factory=dict)
    stage1: int = 0
    stage2: int = 0
    stage3: int = 0

    @property
    def total(self) -> int:
        """The sum of the three stages."""
        return self.stage1 + self.stage2 + self.stage3


class ReadTokens:
    """Counts the tokens of results of reads and script runs."""

    def __init__(self) -> None:
        self.tokens = 0

    def count(self, result: ToolResult) -> None:
        """Add a result. Results of loads and of the `skill` tool are skipped, because other stages count them."""
        value = result.result
        if value is not None and "active_skills" not in value and "skill_name" not in value:
            self.tokens += estimate_tokens(json.dumps(dict(value), ensure_ascii=False, default=str))


def measured(
    disclosed: Disclosure,
    specs: Sequence[ToolSpec],
    active: Sequence[ActiveSkill],
    rendered: Callable[[ActiveSkill], str | None],
    read: ReadTokens,
) -> Cost:
    """Return the cost of the disclosed instructions and the offered tools."""
    sections = {name: tokens for name, tokens in disclosed.tokens.items() if name != "total"}
    tools = {spec.name: estimate_tokens(json.dumps(_offered(spec), ensure_ascii=False)) for spec in specs}
    skills = {skill.name: estimate_tokens(rendered(skill) or "") for skill in active}
    everywhere = sum(tokens for name, tokens in sections.items() if name != "active")
    return Cost(
        sections=sections,
        tools=tools,
        skills=skills,
        stage1=everywhere + sum(tools.values()),
        stage2=sum(skills.values()),
        stage3=read.tokens,
    )


def _offered(spec: ToolSpec) -> dict[str, object]:
    shape = mcp.tool(spec)
    return {key: shape[key] for key in ("name", "description", "inputSchema")}
