"""Configuration snippets for hosts: each has a text, and the path of the file to paste the text into.

Hosts start servers with their own working directory and environment, so the command and all directories are absolute.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.own_command import own_command
from prowess._internal.text.terminal_text import UNSAFE, json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Entry = dict[str, object]


class HostConfig(Struct, frozen=True, kw_only=True):
    """A program that can start MCP servers; `place` is the file for the snippet."""

    place: str
    render: Callable[[Entry], str]


def _json_under(key: str, *, kind: bool = False) -> Callable[[Entry], str]:
    def render(entry: Entry) -> str:
        value = {"type": "stdio", **entry} if kind else entry
        return json_text({key: {"prowess": value}}, indent=2)

    return render


def _toml(entry: Entry) -> str:
    lines = ["[mcp_servers.prowess]", *_assignments({key: entry[key] for key in ("command", "args")})]
    environment = entry.get("env")
    if isinstance(environment, dict):
        lines += ["", "[mcp_servers.prowess.env]", *_assignments(environment)]
    return "\n".join(lines)


def _assignments(values: Mapping[str, object]) -> list[str]:
    # JSON strings, and arrays of them, are valid TOML too, if no character is written as a surrogate escape.
    return [f"{key} = {_escaped(json.dumps(value, ensure_ascii=False))}" for key, value in values.items()]


def _escaped(text: str) -> str:
    """Escape control characters as TOML escapes, which exist for all characters that JSON strings may contain."""
    return re.sub(UNSAFE, lambda match: f"\\U{ord(match[0]):08X}", text)


HOSTS: Mapping[str, HostConfig] = {
    "claude": HostConfig(
        place="claude_desktop_config.json (Settings, Developer, Edit Config)", render=_json_under("mcpServers")
    ),
    "claude-code": HostConfig(place=".mcp.json in the project", render=_json_under("mcpServers", kind=True)),
    "codex": HostConfig(place="~/.codex/config.toml", render=_toml),
    "cursor": HostConfig(
        place=".cursor/mcp.json in the project, or ~/.cursor/mcp.json", render=_json_under("mcpServers")
    ),
    "gemini": HostConfig(place="~/.gemini/settings.json", render=_json_under("mcpServers")),
    "vscode": HostConfig(place=".vscode/mcp.json in the project", render=_json_under("servers", kind=True)),
    "windsurf": HostConfig(place="~/.codeium/windsurf/mcp_config.json", render=_json_under("mcpServers")),
    "zed": HostConfig(place="settings.json of Zed", render=_json_under("context_servers")),
}


def snippet(host: HostConfig, arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """Return the snippet for `host` that starts `prowess serve` with `arguments`."""
    command, *rest = own_command()
    entry: Entry = {"command": command, "args": [*rest, "serve", *arguments]}
    if environment:
        entry["env"] = dict(environment)
    return host.render(entry)
