"""Names that rules and calls may use for one tool, in one table.

Hosts and models use different names for one tool. A name in the table is replaced by its canonical form; every other
name is compared whole and case-sensitively. The table lists the session's own tools and the hosts' single `skill` tool
by their full names, without patterns. A restriction never refuses these tools; another tool whose name begins with
`skills.` is not exempt.
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
SKILL_TOOLS = SESSION_TOOLS | ONE_SKILL_TOOLS | {"skills.list"}  # `skills.list` searches the skills and starts none

USER_TOOL = "skills.invoke"  # called by the host for a user; never offered to a model
SKILL_ARGUMENTS = {  # tool: the argument that contains the skill names
    "skills.load": "names",
    **dict.fromkeys(("skills.read", "skills.run_script", USER_TOOL, *ONE_SKILL_TOOLS), "skill"),
}

# Changes of the installed skills. They are offered to a model only if a host registers them.
PACKAGE_TOOLS = tuple(
    f"packages.{change}" for change in ("install", "update", "remove", "rollback", "deploy", "revoke", "sync")
)

ALWAYS_ALLOWED = "skills.unload"  # regardless of the policy: a skill can always be unloaded


def canonical_tool_name(name: str) -> str:
    """Return the canonical name, which rules use for this tool."""
    return ALIASES.get(name, name)


def names_of(name: str) -> tuple[str, ...]:
    """Return every name that rules read as this tool: `name`, the canonical name, and all aliases."""
    known = canonical_tool_name(name)
    return tuple(dict.fromkeys((name, known, *(alias for alias, meant in ALIASES.items() if meant == known))))


def token_names(written: str, tool: str, *, refuses: bool) -> bool:
    """Return whether a name written in a skill means this tool. `tool` is the canonical name.

    The written name can be the tool's own name, the name of its MCP server, or a pattern of that server's tools. If
    `refuses` is true, more names match: `*` matches any characters of any name, and `mcp__a__b` may be the name of a
    server whose tools begin with `mcp__a__b__`.
    """
    if canonical_tool_name(written) == tool:
        return True
    if (server := server_of(written)) is not None:
        return tool.startswith(f"mcp__{server}__")
    if refuses and tool.startswith("mcp__") and tool.startswith(f"{written}__"):
        return True
    return "*" in written and (refuses or names_one_server(written)) and fits_stars(tool, written)
