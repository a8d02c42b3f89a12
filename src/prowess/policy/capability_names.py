"""Names of capabilities that a skill's tools imply, for `skill.capability` in rules.

A capability is `area:action`, as manifests declare it (extended specification 001, security manifest), or one of the
words with which a policy demands approval: `scripts`, `network-tools`, `file-write` (platform requirements 003, script
execution security) and `external-apis`. Which command a skill gives to Bash is not known before, so Bash implies what
commands can do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.policy.tool_names import canonical_tool_name

if TYPE_CHECKING:
    from collections.abc import Iterable

APPROVED_CAPABILITIES = ("scripts", "network-tools", "file-write", "external-apis")
_OF_TOOLS = {
    "Read": ("file:read",),
    "Glob": ("file:read",),
    "Grep": ("file:read",),
    "Write": ("file:write",),
    "Edit": ("file:write",),
    "NotebookEdit": ("file:write",),
    "WebFetch": ("network:http",),
    "WebSearch": ("network:http",),
    "Bash": ("shell:execute", "file:write", "network:http"),
}
_ACTIONS = {"file": ("read", "write"), "network": ("http",), "shell": ("execute",)}
_NETWORK = ("network", "http", "api", "external")


def of_tools(names: Iterable[str]) -> set[str]:
    """Return the capabilities that tools imply. A pattern such as `mcp__*` counts as each tool that it may mean."""
    found: set[str] = set()
    for name in names:
        tool = canonical_tool_name(name)
        found.update(_OF_TOOLS.get(tool, ()))
        if tool.startswith("mcp__"):
            found.add("external-apis")
        elif "*" in tool:
            found.update({"external-apis", *(one for implied in _OF_TOOLS.values() for one in implied)})
    return found


def with_words(capabilities: Iterable[str]) -> tuple[str, ...]:
    """Return capabilities with the words that they imply, and with the known actions of `area:*`, sorted."""
    found = set(capabilities)
    for name in tuple(found):
        area, _, action = name.lower().partition(":")
        if "*" in action:
            found.update(f"{area}:{known}" for known in _ACTIONS.get(area, ()))
        if area in _NETWORK:
            found.update({"network-tools", "external-apis"})
        if area == "file" and action not in {"read", "list", "stat"}:
            found.add("file-write")
    return tuple(sorted(found))
