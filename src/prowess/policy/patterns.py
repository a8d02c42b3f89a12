"""What a pattern of a tool is held against: structured arguments, never a rendered call.

Bash has a command line, the file tools have paths, the searches have a directory. For any other tool nobody has said
what a pattern would mean, so it fits nothing for certain; write the bare name to permit the whole tool.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from prowess.policy.command_patterns import CommandPattern, judge_command
from prowess.policy.decision import Fit
from prowess.policy.path_patterns import PathPattern, judge_file, judge_search

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The argument that a pattern of this tool is about, by each name that models use for it.
COMMAND_TOOLS = {"Bash": "command"}
FILE_TOOLS = {"Read": ("file_path", "path"), "Write": ("file_path", "path"), "Edit": ("file_path", "path")}
SEARCH_TOOLS = {"Glob": "path", "Grep": "path"}
_SPECIAL = "*?[{"

# The same few patterns are held against every call.
_command_pattern = lru_cache(maxsize=512)(CommandPattern.parse)
_path_pattern = lru_cache(maxsize=512)(PathPattern.parse)


def judge(tool: str, patterns: Sequence[str], arguments: Mapping[str, object], workspace: str | None) -> Fit:
    """Hold the arguments of a call against the patterns of that tool; `tool` is canonical."""
    if tool in COMMAND_TOOLS:
        return judge_command(arguments.get(COMMAND_TOOLS[tool]), [_command_pattern(text) for text in patterns])
    if tool in FILE_TOOLS:
        named = [arguments[name] for name in FILE_TOOLS[tool] if name in arguments]
        return judge_file(named, [_path_pattern(text) for text in patterns], workspace)
    if tool in SEARCH_TOOLS:
        root, glob = search(tool, arguments)
        return judge_search(root, [_path_pattern(text) for text in patterns], workspace, glob=glob)
    reason = f"patterns of '{tool}' are not supported; the bare name permits all of it"
    return Fit(certain=False, possible=True, kind="pattern", reason=reason)


def search(tool: str, arguments: Mapping[str, object]) -> tuple[object, str | None]:
    """Return the directory below which a search looks and, of Glob, the glob that is left below it.

    The fixed beginning of Glob's pattern belongs to the directory. None for a directory that nobody can tell.
    """
    root = arguments.get(SEARCH_TOOLS[tool])
    root = "." if root is None else root
    pattern = arguments.get("pattern")
    if tool != "Glob" or not isinstance(root, str):
        return root, None
    if not isinstance(pattern, str) or ".." in pattern:
        return None, None  # it may climb, also out of braces, so nothing is known about where it looks
    parts = pattern.split("/")
    fixed = next(
        (place for place, part in enumerate(parts[:-1]) if any(char in part for char in _SPECIAL)), len(parts) - 1
    )
    start = "/".join(parts[:fixed])
    if pattern.startswith("/"):
        return start or "/", "/".join(parts[fixed:])
    return (f"{root}/{start}" if start else root), "/".join(parts[fixed:])
