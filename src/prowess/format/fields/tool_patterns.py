"""The tool argument that each pattern applies to, and reasons why a token of `allowed-tools` can never match a call.

`prowess.policy.patterns` uses these tables to match calls, and lint rules use them for advice.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess._internal.globs import path_components
from prowess._internal.text.near_words import near_words
from prowess._internal.text.url_host import host_pattern
from prowess.format.fields.placeholders import PLUGIN_VARIABLE, PROJECT_VARIABLE, SKILL_VARIABLES

if TYPE_CHECKING:
    from prowess.format.fields.allowed_tools import ToolToken

# The argument that a pattern of each tool applies to, with all names that models use for it.
COMMAND_TOOLS = {"Bash": "command"}
FILE_TOOLS = {"Read": ("file_path", "path"), "Write": ("file_path", "path"), "Edit": ("file_path", "path")}
PATHS = frozenset({"file_path", "path"})
SEARCH_TOOLS = {"Glob": "path", "Grep": "path"}
URL_TOOLS = {"WebFetch": "url"}
NAME_TOOLS = {"Agent": "subagent_type"}  # a type of sub-agent
DOMAIN = "domain:"  # prefix of a URL pattern

TOOL_ALIASES = {  # Other names of tools. `prowess.policy.tool_names` has those of the skill tools.
    "bash_exec": "Bash",
    "read_file": "Read",
    "write_file": "Write",
    "edit_file": "Edit",
    "Task": "Agent",
}
SKILL_TOOL = "Skill"
_WITH_PATTERNS = (*COMMAND_TOOLS, *FILE_TOOLS, *SEARCH_TOOLS, *URL_TOOLS, *NAME_TOOLS, SKILL_TOOL)
_KNOWN = (*_WITH_PATTERNS, "WebSearch", "NotebookEdit", "AskUserQuestion", "TodoWrite")

_VARIABLES = (*SKILL_VARIABLES, PLUGIN_VARIABLE, PROJECT_VARIABLE)
VARIABLE = re.compile(rf"\$\{{({'|'.join(_VARIABLES)})\}}|\$({'|'.join(_VARIABLES)})(?![A-Za-z0-9_])")

_SERVER = "mcp__"
_SHELL = re.compile(r"&&|\|\||[;|&<>`]|\$\(|\n")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def server_of(name: str) -> str | None:
    """Return the server if a name means a whole server: `mcp__git` and `mcp__git__*` mean `git`. Otherwise `None`."""
    if not name.startswith(_SERVER):
        return None
    server, _, tool = name.removeprefix(_SERVER).partition("__")
    return server if server and "*" not in server and tool in {"", "*"} else None


def names_one_server(name: str) -> bool:
    """Whether a name begins with exactly one server: `mcp__git__get_*` does, `mcp__*` does not."""
    server, separator, _ = name.removeprefix(_SERVER).partition("__")
    return name.startswith(_SERVER) and bool(server and separator) and "*" not in server


def never_fits(token: ToolToken, *, refuses: bool) -> str | None:
    """Return why a token can never match a call, without a full stop; `None` if it can.

    `refuses` is true for a token of `disallowed-tools`.
    """
    tool = TOOL_ALIASES.get(token.name, token.name)
    if refuses and tool == SKILL_TOOL:
        return "the tools of skills cannot be denied"
    if tool not in _KNOWN and (near := {name.lower(): name for name in _KNOWN}.get(tool.lower())) is not None:
        return f"tool names are case-sensitive; did you mean {near}?"
    if "*" in tool and not refuses and not names_one_server(tool):
        return "in a name, * is allowed only after a server, as in mcp__server__*"
    return (
        None if token.pattern is None or token.pattern.strip() == "*" else _pattern_fault(tool, token.pattern.strip())
    )


def _pattern_fault(tool: str, pattern: str) -> str | None:
    if tool in COMMAND_TOOLS:
        return _command_fault(pattern)
    if tool in FILE_TOOLS or tool in SEARCH_TOOLS:
        home = "~ is not the home directory here; write //home/…" if pattern.startswith("~") else None
        return home or path_pattern_fault(pattern)
    if tool in URL_TOOLS:
        if not pattern.startswith(DOMAIN):
            return f"a pattern of {tool} is {DOMAIN} and a host"
        host = pattern.removeprefix(DOMAIN).strip()
        return None if host_pattern(host) is not None else f"{host!r} is not a host; write only the host name"
    if tool in NAME_TOOLS or tool == SKILL_TOOL:
        return None
    near = near_words(tool, _WITH_PATTERNS, cutoff=0.8)
    hint = f"did you mean {near[0]}?" if near else f"write {tool} for all of it"
    return f"patterns of {tool} have no meaning; {hint}"


def _command_fault(pattern: str) -> str | None:
    if (sign := _SHELL.search(pattern)) is not None:
        return f"a pattern applies to one simple command, which never contains {sign[0]!r}"
    if _ASSIGNMENT.match(pattern):
        return "a command with a variable assignment before it never matches a pattern"
    if "$" in VARIABLE.sub("", pattern):
        return f"only {', '.join(f'${{{name}}}' for name in _VARIABLES)} have a value here"
    if ":*" in pattern[:-2]:
        return "':*' means any arguments only at the end"
    return None


def path_pattern_fault(pattern: str) -> str | None:
    """Return why a glob cannot match any path; `None` if it can. A deny rule with such a glob would deny nothing."""
    if ".." in path_components(pattern):
        return f"{pattern!r} matches no path: paths are resolved before they are compared, so leave '..' out"
    if re.search(r"\{[^}]*,", pattern):
        return f"{pattern!r} matches no path: braces are not alternatives here; write several patterns"
    if pattern.startswith("/workspace/"):
        meant = pattern.removeprefix("/workspace")
        return f"{pattern!r} is relative to the workspace, so it means /workspace/workspace/…; write {meant!r}"
    return None
