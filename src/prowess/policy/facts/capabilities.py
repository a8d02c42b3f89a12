"""The capabilities of a skill: those that it declares, and those that its tools, scripts and hooks imply.

A capability is `area:action`, as manifests declare it (extended specification 001, security manifest), or one of the
words with which a policy demands approval: `scripts`, `network-tools`, `file-write` (platform requirements 003, script
execution security) and `external-apis`. Which command a skill gives to Bash is not known before, so Bash implies
the capabilities of all commands. A skill without `allowed-tools` implies no tool by them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypedDict

from prowess.errors import ConfigurationError
from prowess.format.fields.allowed_tools import parse_allowed_tools
from prowess.format.fields.near_fields import tool_fields
from prowess.policy.tool_names import canonical_tool_name

if TYPE_CHECKING:
    from prowess.format.skill import Skill

IsScript = Callable[[str, bytes], bool]
APPROVED_CAPABILITIES = ("scripts", "network-tools", "file-write", "external-apis")
CAPABILITY_PATTERN = (
    rf"^({'|'.join(APPROVED_CAPABILITIES)}|[A-Za-z][A-Za-z0-9_.-]{{0,63}}:[A-Za-z*][A-Za-z0-9_.*-]{{0,63}})$"
)
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


class FileFacts(TypedDict):
    """Facts of a `SkillIdentity` that are known when the files of a skill were read."""

    files: frozenset[str]
    capabilities: tuple[str, ...] | None


def file_facts(skill: Skill, script_dirs: Sequence[str], is_script: IsScript) -> FileFacts:
    """Return the digests of a skill's files, and its capabilities; None if a part that may state one is unreadable.

    `script_dirs` are the directories from which the policy lets scripts run. `is_script` states whether an interpreter
    would run a file, by its path and first bytes.
    """
    files = frozenset(f"sha256:{file.sha256}" for file in skill.manifest.files)
    return {"files": files, "capabilities": _capabilities(skill, script_dirs, is_script)}


def _capabilities(skill: Skill, script_dirs: Sequence[str], is_script: IsScript) -> tuple[str, ...] | None:
    sidecar, properties = skill.sidecar, skill.frontmatter.raw
    tools = _allowed(tool_fields(properties).allowed)
    if sidecar.faults or tools is None:
        return None
    found = _of_tools(tools)
    if sidecar.tools is not None:
        found |= _of_tools(each.tool.name for each in sidecar.tools.dependencies)
    if (stated := sidecar.security) is not None:
        found.update(each.capability for each in stated.capabilities)
        found.update({"network:http"} if stated.requires_network else ())
        found.update({"file:write"} if stated.modifies_files else ())
        found.update({"shell:execute"} if stated.executes_commands else ())
    if "hooks" in properties or any(_may_run(skill, script_dirs, is_script)):
        found.add("scripts")
    return _with_words(found)


def checked_capabilities(stated: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return stated capabilities with those that they imply; None for None. Raises ConfigurationError."""
    for one in stated or ():
        if re.fullmatch(CAPABILITY_PATTERN, one) is None:
            known = ", ".join(APPROVED_CAPABILITIES)
            reason = f"{one[:80]!r} is not known; write some of {known}, or area:action such as file:read"
            raise ConfigurationError((f"capabilities: {reason}",))
    return None if stated is None else _with_words(stated)


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


def _may_run(skill: Skill, script_dirs: Sequence[str], is_script: IsScript) -> Iterable[bool]:
    below = tuple(f"{directory}/".casefold() for directory in ("scripts", *script_dirs))
    for file in skill.manifest.files:
        yield file.executable or file.path.casefold().startswith(below) or is_script(file.path, b"")


def _of_tools(names: Iterable[str]) -> set[str]:
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


def _with_words(capabilities: Iterable[str]) -> tuple[str, ...]:
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
