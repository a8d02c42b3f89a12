"""The names that rules and calls may use for one tool, in one table.

Hosts and models differ in what they call a tool. A name that stands in the table is read as its canonical form; every
other name is its own, compared whole and case-sensitively. The session's own tools and the one `skill` tool of hosts
are listed by their full names: a restriction never refuses them, so a name that only begins alike must not count.
"""

from __future__ import annotations

from prowess._internal.globs import fits_stars
from prowess.format.fields.tool_patterns import SKILL_TOOL, TOOL_ALIASES, names_one_server, server_of

ALIASES = {
    **TOOL_ALIASES,
    SKILL_TOOL: "skill",
    "skills_list": "skills.list",
    "skills-list": "skills.list",
    "skills_load": "skills.load",
    "skills-load": "skills.load",
    "skills_unload": "skills.unload",
    "skills-unload": "skills.unload",
    "skills_read": "skills.read",
    "skills-read": "skills.read",
    "skills_run_script": "skills.run_script",
    "skills-run_script": "skills.run_script",
    "skills-run-script": "skills.run_script",
}

SESSION_TOOLS = frozenset({"skills.load", "skills.unload", "skills.read", "skills.run_script"})
ONE_SKILL_TOOLS = frozenset({"skill", "Skill"})
SKILL_TOOLS = SESSION_TOOLS | ONE_SKILL_TOOLS | {"skills.list"}  # a server lists skills by a tool as well

USER_TOOL = "skills.invoke"  # called by the host for a person; no model is offered it
SKILL_ARGUMENTS = {  # where a call names skills
    "skills.load": "names",
    **dict.fromkeys(("skills.read", "skills.run_script", USER_TOOL, *ONE_SKILL_TOOLS), "skill"),
}

ALWAYS_ALLOWED = "skills.unload"  # whatever a policy says: a skill can always be given up


def canonical_tool_name(name: str) -> str:
    """Return the name under which rules know this tool."""
    return ALIASES.get(name, name)


def names_of(name: str) -> tuple[str, ...]:
    """Return every name that rules read as this tool: its own, the canonical one, and their other spellings."""
    known = canonical_tool_name(name)
    return tuple(dict.fromkeys((name, known, *(alias for alias, meant in ALIASES.items() if meant == known))))


def token_names(written: str, tool: str, *, refuses: bool) -> bool:
    """Whether a name in a skill means this tool (canonical): its own name, its server of MCP, a pattern of its server.

    What `refuses` means more: `*` stands for any characters of any name, and a name before `__` may be a server's.
    """
    if canonical_tool_name(written) == tool:
        return True
    if (server := server_of(written)) is not None:
        return tool.startswith(f"mcp__{server}__")
    if refuses and tool.startswith("mcp__") and tool.startswith(f"{written}__"):
        return True
    return "*" in written and (refuses or names_one_server(written)) and fits_stars(tool, written)
