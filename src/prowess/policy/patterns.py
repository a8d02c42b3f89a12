"""What a pattern of a tool is held against: structured arguments, never a rendered call.

Bash has a command line, the file tools have paths, the searches have a directory. For any other tool nobody has said
what a pattern would mean, so it fits nothing for certain; write the bare name to permit the whole tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.policy.command_patterns import CommandPattern, judge_command
from prowess.policy.fit import Fit
from prowess.policy.path_patterns import PathPattern, judge_file, judge_search

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The argument that a pattern of this tool is about, by each name that models use for it.
COMMAND_TOOLS = {"Bash": "command"}
FILE_TOOLS = {"Read": ("file_path", "path"), "Write": ("file_path", "path"), "Edit": ("file_path", "path")}
SEARCH_TOOLS = {"Glob": "path", "Grep": "path"}
_SPECIAL = "*?[{"


def judge(tool: str, patterns: Sequence[str], arguments: Mapping[str, object], workspace: str | None) -> Fit:
    """Hold the arguments of a call against the patterns of that tool; `tool` is canonical."""
    if tool in COMMAND_TOOLS:
        return judge_command(arguments.get(COMMAND_TOOLS[tool]), [CommandPattern.parse(text) for text in patterns])
    if tool in FILE_TOOLS:
        named = [arguments[name] for name in FILE_TOOLS[tool] if name in arguments]
        return judge_file(named, [PathPattern.parse(text) for text in patterns], workspace)
    if tool in SEARCH_TOOLS:
        return judge_search(search_root(tool, arguments), [PathPattern.parse(text) for text in patterns], workspace)
    reason = f"patterns of '{tool}' are not supported; the bare name permits all of it"
    return Fit(certain=False, possible=True, kind="pattern", reason=reason)


def search_root(tool: str, arguments: Mapping[str, object]) -> object:
    """Return the directory below which a search looks; for Glob the fixed beginning of its pattern belongs to it."""
    root = arguments.get(SEARCH_TOOLS[tool])
    if root is None:
        root = "."
    pattern = arguments.get("pattern")
    if tool != "Glob" or not isinstance(pattern, str) or not isinstance(root, str):
        return root
    parts = pattern.split("/")
    if ".." in parts:
        return None  # it climbs, so nothing is known about where it looks
    fixed: list[str] = []
    for part in parts[:-1]:
        if any(char in part for char in _SPECIAL):
            break
        fixed.append(part)
    return "/".join([root, *fixed]) if fixed and fixed[0] else ("/" + "/".join(fixed) if fixed else root)
